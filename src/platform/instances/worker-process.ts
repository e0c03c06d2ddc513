import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Log } from '../../common/log.ts'

/** Between the end of a worker that should run and its next start; each time it is doubled, until one has lasted long enough. */
const PAUSE_MS = 1000
const LONGEST_MS = 60_000
/** A worker that was asked to end gets so much more than its job. */
const END_MS = 5000

export interface WorkerProcessOptions {
  /** Program and arguments. */
  readonly command: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly log: Log
}

/** A process that is started again when it ends by itself. */
export interface WorkerProcess {
  /** Ends it; it has `graceMs` for what it does. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts a queue worker beside an instance. It shares this process's output, and by a channel it notices when this process
 * is no more: then it ends by itself, however this one ended.
 */
export function startWorkerProcess({ command, environment, log }: WorkerProcessOptions): WorkerProcess {
  const [program = '', ...words] = command
  let stopping = false
  let pauseMs = PAUSE_MS
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess | undefined

  function start(): void {
    const began = performance.now()
    const started = spawn(program, words, { env: environment, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child = started
    const again = (reason: string): void => {
      child = undefined
      if (stopping) return
      if (performance.now() - began > LONGEST_MS) pauseMs = PAUSE_MS
      log.warn({ reason, pauseMs }, 'the worker of an instance has ended and is started again')
      timer = setTimeout(start, pauseMs)
      pauseMs = Math.min(pauseMs * 2, LONGEST_MS)
    }
    started.once('exit', (code, signal) => again(signal ?? `exit code ${code}`))
    started.once('error', ({ message }) => {
      if (started.pid === undefined) again(message)
    })
  }
  start()
  return {
    async stop(graceMs) {
      stopping = true
      clearTimeout(timer)
      const ending = child
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
      const gone = once(ending, 'exit')
      ending.kill('SIGTERM')
      const late = setTimeout(() => ending.kill('SIGKILL'), graceMs + END_MS)
      await gone
      clearTimeout(late)
    },
  }
}
