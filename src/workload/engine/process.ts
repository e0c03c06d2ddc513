import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { FromEngine, ToEngine } from './protocol.ts'

/** How long an engine that was told to end may take before it is killed. */
const CLOSE_MS = 2000

export interface EngineProcess<Sent = ToEngine> {
  readonly id: number | undefined
  send(message: Sent): void
  kill(): void
  /** Lets the process end by itself, or kills it; resolves when it is gone. */
  close(): Promise<void>
}

export interface EngineProcessEvents<Received = FromEngine> {
  message(message: Received): void
  /** Called once, whatever ended the process; `how` completes "the engine process …". */
  ended(how: string): void
}

/** Starts `entry` as a process that is told `config` in JSON as its one argument. */
export function spawnEngine<Sent extends object = ToEngine, Received = FromEngine>(
  entry: URL,
  config: unknown,
  events: EngineProcessEvents<Received>,
): EngineProcess<Sent> {
  const child = fork(entry, [JSON.stringify(config)], { serialization: 'advanced' })
  const gone = endOf(child)
  child.on('message', (message) => events.message(message as Received)) // the entry sends nothing else
  void gone.then(events.ended)
  return {
    get id() {
      return child.pid
    },
    send(message) {
      // A process that is going away is reported by its end; the callback keeps the failed write from being thrown.
      if (child.connected) child.send(message, () => undefined)
    },
    kill: () => void child.kill('SIGKILL'),
    async close() {
      const late = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
      if (child.connected) child.disconnect()
      await gone
      clearTimeout(late)
    },
  }
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    if (signal === 'SIGKILL') return 'was killed (SIGKILL; the system does this when memory runs out)'
    return signal === null ? `ended with exit code ${code}` : `was killed (${signal})`
  } catch (error) {
    return `could not be started (${(error as Error).message})` // once() rejects with the child's 'error' event
  }
}
