import { pino } from 'pino'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof logLevels)[number]

type Write = (facts: Readonly<Record<string, unknown>>, message: string) => void

/** Where a room tells what happened. Facts are members of the line, never parts of the sentence. */
export interface Log {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
}

/** Writes JSON lines on standard output, each at once, so that a crash loses none. */
export function createLog(level: LogLevel, facts: Readonly<Record<string, unknown>> = {}): Log {
  const formatters = { level: (label: string) => ({ level: label }) }
  return pino({ level, base: facts, timestamp: pino.stdTimeFunctions.isoTime, formatters })
}

/** Tells nobody. */
export const silentLog: Log = Object.freeze({
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
})
