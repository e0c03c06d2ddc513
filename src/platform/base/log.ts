import { pino } from 'pino'

/** From the most to the least that is told. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

export type LogLevel = (typeof logLevels)[number]

type Write = (facts: Readonly<Record<string, unknown>>, message: string) => void

/** Where a room tells what happened. Facts are members of the line, never parts of the sentence, and never secrets. */
export interface Log {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
}

/** Writes JSON lines on standard output. */
export function createLog(level: LogLevel): Log {
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino({ level, base: {}, timestamp: pino.stdTimeFunctions.isoTime, formatters })
}
