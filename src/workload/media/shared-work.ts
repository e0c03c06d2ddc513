import { unlessAborted } from '../base/abort.ts'
import { WorkloadError } from '../base/errors.ts'

/** Work that is done once, however many wait for it; it is aborted when the last of them has given up. */
export interface SharedWork<T> {
  /** What the work gives, unless `signal` aborts first. */
  wait(signal: AbortSignal): Promise<T>
  /** Whether everybody has given up: it will end without a result. */
  readonly abandoned: boolean
  /** Resolves when it has ended, in whatever way. */
  readonly ended: Promise<void>
}

export function shareWork<T>(work: (signal: AbortSignal) => Promise<T>): SharedWork<T> {
  const ending = new AbortController()
  const result = work(ending.signal)
  const ended = result.then(
    () => undefined,
    () => undefined,
  )
  let waiting = 0
  return {
    ended,
    get abandoned() {
      return ending.signal.aborted
    },
    async wait(signal) {
      waiting++
      try {
        return await unlessAborted(result, signal)
      } finally {
        waiting--
        if (waiting === 0) ending.abort(new WorkloadError('cancelled', 'nobody waits for the file any more'))
      }
    },
  }
}
