import { randomUUID } from 'node:crypto'
import type { Log } from '../../common/log.ts'
import { WorkloadError } from '../base/errors.ts'
import type { NetworkMeasure } from '../base/network-measure.ts'
import type { Audience } from './audience.ts'
import { createPreviewing, type Previewing } from './previewing.ts'
import { type EngineProcess, spawnEngine } from './process.ts'
import type { EngineJob, EngineResult, Freeing, FromEngine, NodeEvent, Picture } from './protocol.ts'

/** Ends at start in a row after which an engine counts as broken. It is still tried again. */
const BROKEN_AFTER = 5
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5000

/** Rejects the runs of a process that ended; `message` completes "the engine process …". */
export class EngineLost extends Error {
  override readonly name = 'EngineLost'
}

export interface RunWatch {
  readonly signal: AbortSignal
  /** While somebody is there, events of the kind `preview` are made. */
  readonly audience?: Audience
  onEvent?(event: NodeEvent): void
}

/** `broken` engines have ended at start again and again, and may yet recover. */
export type EngineState = 'starting' | 'ready' | 'broken'

/** One supervised engine process as the main process sees it. */
export interface Engine {
  readonly processId: number | undefined
  readonly state: EngineState
  /** What it runs on, `cpu` or `cuda`; undefined until it has been ready once. */
  readonly device: string | undefined
  /**
   * Runs a job on the process that is there now. Rejects with EngineLost when that ends, and with `cancelled` once the
   * engine has stopped after `signal`.
   */
  run(job: EngineJob, watch: RunWatch): Promise<EngineResult>
  /** Tells the process to give back memory that nobody uses now. */
  free(what: Freeing): void
  close(): Promise<void>
}

export interface EngineOptions {
  readonly entry: URL
  /** What the process is told, as JSON. */
  readonly config: unknown
  /** A process that has work and is silent for longer is killed. */
  readonly stallMs: number
  readonly log: Log
  /** A sketch as a JPEG. */
  encodePreview(sketch: Picture): Promise<Uint8Array>
  /** Called when `state` has changed. */
  onState?(): void
  /** Told what happens to networks; `lost` when the process is gone, and with it what it had open. */
  onMeasure?(measure: NetworkMeasure | 'lost'): void
}

interface Pending {
  readonly onEvent: RunWatch['onEvent']
  readonly previewing: Previewing
  resolve(result: EngineResult): void
  reject(error: Error): void
}

/** Starts an engine process and keeps one there: whatever ends it, another is started after a growing pause. */
export function startEngine(options: EngineOptions): Engine {
  const { entry, config, stallMs, log, encodePreview, onState, onMeasure } = options
  const running = new Map<string, Pending>()
  let child: EngineProcess
  let state: EngineState = 'starting'
  let device: string | undefined
  let failedStarts = 0
  let stalled = false
  let closed = false
  let restart: NodeJS.Timeout | undefined
  let watchdog: NodeJS.Timeout | undefined

  const become = (next: EngineState): void => {
    if (state === next) return
    state = next
    onState?.()
  }
  const watch = (): void => {
    clearTimeout(watchdog)
    if (running.size === 0) return
    watchdog = setTimeout(() => {
      stalled = true
      child.kill()
    }, stallMs)
  }
  const settle = (run: string): Pending | undefined => {
    const pending = running.get(run)
    running.delete(run)
    return pending
  }
  const receive = (message: FromEngine): void => {
    if (message.kind === 'ready') {
      failedStarts = 0
      device = message.device
      become('ready')
    } else if (message.kind === 'events') {
      const onEvent = running.get(message.run)?.onEvent
      if (onEvent) message.events.forEach(onEvent)
    } else if (message.kind === 'measures') {
      for (const measure of message.measures) onMeasure?.(measure)
    } else if (message.kind === 'sketch') running.get(message.run)?.previewing.show(message.sketch)
    else if (message.kind === 'done') settle(message.run)?.resolve(message.result)
    else if (message.kind === 'failed') {
      const { code, message: text, facts } = message.failure
      // What nobody foresaw may name files of this machine: that is for the log.
      const isForeseen = code !== 'internal'
      settle(message.run)?.reject(isForeseen ? new WorkloadError(code, text, facts) : new Error(text))
    }
    watch()
  }
  const ended = (seen: string): void => {
    const how = stalled ? `was killed, because it gave no sign of life for ${stallMs / 1000} s` : seen
    failedStarts = state === 'ready' ? 0 : failedStarts + 1
    stalled = false
    const lost = [...running.values()]
    running.clear()
    clearTimeout(watchdog)
    onMeasure?.('lost')
    if (!closed) {
      log.error({ prompts: lost.length, failedStarts }, `the engine process ${how}; it is started again`)
      restart = setTimeout(start, pauseBefore(failedStarts))
      become(failedStarts >= BROKEN_AFTER ? 'broken' : 'starting')
    }
    for (const { reject } of lost) reject(new EngineLost(how))
  }
  const start = (): void => {
    child = spawnEngine(entry, config, { message: receive, ended })
  }

  start()
  return {
    get processId() {
      return child.id
    },
    get state() {
      return state
    },
    get device() {
      return device
    },
    async run(job, { signal, audience, onEvent }) {
      signal.throwIfAborted()
      const run = randomUUID()
      const on = child
      const cancel = () => on.send({ kind: 'cancel', run })
      const isWatched = () => audience?.present ?? false
      const previewing = createPreviewing(encodePreview, log, (event) => running.get(run)?.onEvent?.(event))
      const forget = audience?.onChange(() => on.send({ kind: 'watch', run, watched: isWatched() }))
      signal.addEventListener('abort', cancel)
      try {
        return await new Promise((resolve, reject) => {
          running.set(run, { onEvent, previewing, resolve, reject })
          on.send({ kind: 'run', run, job, watched: isWatched() })
          if (running.size === 1) watch()
        })
      } finally {
        signal.removeEventListener('abort', cancel)
        forget?.()
      }
    },
    free: (what) => child.send({ kind: 'free', ...what }),
    async close() {
      closed = true
      clearTimeout(restart)
      await child.close()
    },
  }
}

/** None after a process that had been ready, then 100 ms, doubling up to 5 s. */
const pauseBefore = (failedStarts: number): number =>
  failedStarts === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (failedStarts - 1), LONGEST_DELAY_MS)
