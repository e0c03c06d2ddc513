import { WorkloadError } from '../base/errors.ts'
import { type Engine, EngineLost, type RunWatch } from './host.ts'
import type { EngineJob, EngineResult, Freeing } from './protocol.ts'

export interface JobWatch extends RunWatch {
  /** Those with larger ones go first; 0 when it is left out. */
  readonly priority?: number
  /** Among equals, those with lower numbers go first, and those without one before them. */
  readonly number?: number
  /** Called when the job leaves the queue: twice if it is tried again. */
  onStarted?(): void
}

/** All engines together, with one queue before them. */
export interface Engines {
  /** True while a job could start if there were room. */
  readonly ready: boolean
  /** False when no engine stays up. */
  readonly healthy: boolean
  /** What the engines run on, `cpu` or `cuda` each. */
  readonly devices: readonly string[]
  /** Starts the engines; until then everything waits. */
  start(): void
  /** Resolves when an engine is ready. */
  whenReady(): Promise<void>
  /** Runs a job when its turn comes. Rejects with `signal`'s reason when that aborts before its turn. */
  run(job: EngineJob, watch: JobWatch): Promise<EngineResult>
  /** Tells every engine to give back memory that nobody uses now. */
  free(what: Freeing): void
  close(): Promise<void>
}

interface Task {
  readonly job: EngineJob
  readonly watch: JobWatch
  /** Its engine died once: it is tried again, and then with nothing beside it, so that only the guilty can fail. */
  suspect: boolean
  resolve(result: EngineResult): void
  reject(error: unknown): void
}

interface Place {
  readonly engine: Engine
  running: number
  /** True while a suspect runs here. */
  exclusive: boolean
}

/**
 * Largest priority first, then lowest number, then first come, first served, each job by the engine that runs fewest, at
 * most `limit` an engine. `launch` starts the engines, each of which calls `onState` when its state has changed.
 */
export function createEngines(limit: number, launch: (onState: () => void) => readonly Engine[]): Engines {
  let places: readonly Place[] = []
  const queue: Task[] = []
  const waiters: (() => void)[] = []
  let closed = false

  const placeFor = ({ suspect }: Task): Place | undefined =>
    places
      .filter(({ engine, exclusive }) => engine.state === 'ready' && !exclusive)
      .filter(({ running }) => (suspect ? running === 0 : running < limit))
      .sort((a, b) => a.running - b.running)[0]

  const dispatch = (): void => {
    for (let task = queue[0]; task; task = queue[0]) {
      const place = placeFor(task)
      if (!place) return
      queue.shift()
      void execute(task, place)
    }
  }
  const execute = async (task: Task, place: Place): Promise<void> => {
    place.running++
    place.exclusive = task.suspect
    task.watch.onStarted?.()
    try {
      task.resolve(await place.engine.run(task.job, task.watch))
    } catch (error) {
      if (error instanceof EngineLost) lost(task, error)
      else task.reject(error)
    } finally {
      place.running--
      if (task.suspect) place.exclusive = false
      dispatch()
    }
  }
  const lost = (task: Task, { message }: EngineLost): void => {
    if (task.watch.signal.aborted) task.reject(task.watch.signal.reason)
    else if (closed) task.reject(new WorkloadError('shutting-down', 'the server stopped before the prompt was done'))
    else if (task.suspect)
      task.reject(
        new WorkloadError('execution-failed', `the engine process ${message} while it ran this prompt, twice in a row`),
      )
    else enqueue(Object.assign(task, { suspect: true }))
  }
  /** Suspects go first, in the order they were lost. */
  const enqueue = (task: Task): void => {
    const behind = queue.findIndex((other) => (task.suspect ? !other.suspect : !other.suspect && isBefore(task, other)))
    queue.splice(behind < 0 ? queue.length : behind, 0, task)
  }
  const stateChanged = (): void => {
    if (engines.ready) for (const wake of waiters.splice(0)) wake()
    if (!engines.healthy)
      for (const { reject } of queue.splice(0))
        reject(new WorkloadError('execution-failed', 'no engine process stays up; the log says why'))
    dispatch()
  }

  const engines: Engines = {
    get ready() {
      return places.some(({ engine }) => engine.state === 'ready')
    },
    get healthy() {
      return places.length === 0 || places.some(({ engine }) => engine.state !== 'broken')
    },
    get devices() {
      return places.flatMap(({ engine }) => engine.device ?? [])
    },
    start() {
      places = launch(stateChanged).map((engine) => ({ engine, running: 0, exclusive: false }))
    },
    whenReady: () => (engines.ready ? Promise.resolve() : new Promise((resolve) => void waiters.push(resolve))),
    async run(job, watch) {
      watch.signal.throwIfAborted()
      const { promise, task } = newTask(job, watch)
      const leave = () => {
        const at = queue.indexOf(task)
        if (at < 0) return
        queue.splice(at, 1)
        task.reject(watch.signal.reason)
        dispatch()
      }
      watch.signal.addEventListener('abort', leave)
      enqueue(task)
      dispatch()
      return promise.finally(() => watch.signal.removeEventListener('abort', leave))
    },
    free(what) {
      for (const { engine } of places) engine.free(what)
    },
    async close() {
      closed = true
      await Promise.all(places.map(({ engine }) => engine.close()))
    },
  }
  return engines
}

function isBefore({ watch: a }: Task, { watch: b }: Task): boolean {
  const [first, second] = [a.priority ?? 0, b.priority ?? 0]
  return first === second ? numberOf(a) < numberOf(b) : first > second
}

const numberOf = ({ number }: JobWatch): number => number ?? Number.NEGATIVE_INFINITY

function newTask(job: EngineJob, watch: JobWatch): { readonly promise: Promise<EngineResult>; readonly task: Task } {
  let resolve!: Task['resolve']
  let reject!: Task['reject']
  const promise = new Promise<EngineResult>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, task: { job, watch, suspect: false, resolve, reject } }
}
