import { WorkloadError } from '../base/errors.ts'

/** How long jobs that were told to stop may take to do so. */
const LAST_MS = 2000
/** Seconds after which to try a server again that starts, or another that does not drain. */
const RETRY_S = 5

/** A job's place among those that are pending or running. */
export interface Admitted {
  readonly id: string
  /**
   * `waiting` is for an engine. What is `delivering` takes no place any more, or a client that has its whole answer
   * could be refused the next prompt; only a shutdown still waits for it.
   */
  stage: 'preparing' | 'waiting' | 'running' | 'delivering'
  /** Ends the job with `reason`, which its client reads. */
  stop(reason: WorkloadError): void
  /** Called when nothing of the job runs any more. */
  leave(): void
}

/** Who may come in. */
export interface Admission {
  readonly stage: 'starting' | 'open' | 'draining'
  readonly depth: number
  readonly full: boolean
  /** How many are where. */
  readonly counts: Readonly<Record<'pending' | 'running' | 'delivering', number>>
  open(): void
  /** Throws `not-ready`, `draining` or `queue-full`. */
  check(): void
  /** Throws as `check` does, and `id-conflict`; `byRight` skips all but the last. */
  enter(id: string, stop: (reason: WorkloadError) => void, byRight: boolean): Admitted
  /** Lets nobody in any more. What waits fails; what runs is stopped after `graceMs`. Resolves when all have left. */
  drain(graceMs: number): Promise<void>
}

/**
 * `maxDepth` counts pending and running jobs, 0 is no limit; `outside` those of them that wait elsewhere; `now` gives
 * milliseconds.
 */
export function createAdmission(maxDepth: number, now: () => number, outside: () => number): Admission {
  const inside = new Set<Admitted>()
  let stage: Admission['stage'] = 'starting'
  let onEmpty: (() => void) | undefined
  let meanStay = 2000

  const counted = () => [...inside].filter(({ stage }) => stage !== 'delivering')
  const admission: Admission = {
    get stage() {
      return stage
    },
    get depth() {
      return counted().length + outside()
    },
    get full() {
      return maxDepth > 0 && admission.depth >= maxDepth
    },
    get counts() {
      const counts = { pending: 0, running: 0, delivering: 0 }
      for (const { stage } of inside) counts[stage === 'preparing' || stage === 'waiting' ? 'pending' : stage] += 1
      return counts
    },
    open() {
      if (stage === 'starting') stage = 'open'
    },
    check() {
      if (stage === 'starting')
        throw new WorkloadError('not-ready', 'the server is still starting', { retryAfter: RETRY_S })
      if (stage === 'draining')
        throw new WorkloadError('draining', 'the server is shutting down', { retryAfter: RETRY_S })
      if (!admission.full) return
      // Little's law: with `depth` jobs inside that stay `meanStay` each, one leaves every meanStay / depth.
      const retryAfter = Math.max(1, Math.ceil(meanStay / admission.depth / 1000))
      throw new WorkloadError('queue-full', `${admission.depth} prompts are pending or running, which is the limit`, {
        retryAfter,
      })
    },
    enter(id, stop, byRight) {
      if (!byRight) admission.check()
      if (counted().some((other) => other.id === id))
        throw new WorkloadError('id-conflict', `a prompt with the id ${id} has not finished yet`, { location: 'id' })
      const arrival = now()
      const admitted: Admitted = {
        id,
        stage: 'preparing',
        stop,
        leave() {
          inside.delete(admitted)
          meanStay += (now() - arrival - meanStay) / 8
          if (inside.size === 0) onEmpty?.()
        },
      }
      inside.add(admitted)
      return admitted
    },
    async drain(graceMs) {
      stage = 'draining'
      if (inside.size === 0) return
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve
      })
      stopAll((job) => job.stage === 'waiting')
      let late = setTimeout(() => {
        stopAll(() => true)
        late = setTimeout(() => onEmpty?.(), LAST_MS)
      }, graceMs)
      await empty
      clearTimeout(late)
    },
  }
  const stopAll = (which: (job: Admitted) => boolean): void => {
    const reason = new WorkloadError('shutting-down', 'the server is shutting down', { retryAfter: RETRY_S })
    for (const job of [...inside].filter(which)) job.stop(reason)
  }
  return admission
}

/** Why prompts should go elsewhere at the moment; `ready` says whether an engine could take one. */
export function reasonsOf({ stage, full }: Admission, ready: boolean): readonly string[] {
  return [
    ...(stage === 'starting' ? ['the server is still starting'] : []),
    ...(stage === 'draining' ? ['the server is shutting down'] : []),
    ...(ready ? [] : ['no engine process is up']),
    ...(full ? ['the queue is full'] : []),
  ]
}
