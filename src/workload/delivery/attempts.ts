import { setTimeout as pause } from 'node:timers/promises'
import { UploadFailure } from './target.ts'

const FIRST_MS = 500
const LONGEST_MS = 30_000

/** How often and how long to try. */
export interface Patience {
  readonly attempts: number
  /** Of one attempt. */
  readonly timeoutMs: number
  /** 0 to 1. */
  random(): number
}

/**
 * `work` until it succeeds, fails for good or has been tried often enough; between attempts exponential back-off with
 * full jitter, or what the store asks for. Throws the last `UploadFailure`, or `signal`'s reason when that aborts.
 */
export async function withAttempts(
  work: (signal: AbortSignal) => Promise<void>,
  { attempts, timeoutMs, random }: Patience,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const ended = AbortSignal.timeout(timeoutMs)
    try {
      return await work(AbortSignal.any([signal, ended]))
    } catch (error) {
      signal.throwIfAborted()
      const failure = ended.aborted ? timedOut(timeoutMs, error) : error
      if (!(failure instanceof UploadFailure) || !failure.passing || attempt >= attempts) throw failure
      const backOff = random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1))
      await pause(Math.min(failure.retryAfter ?? backOff, LONGEST_MS), undefined, { signal })
    }
  }
}

const timedOut = (timeoutMs: number, cause: unknown) =>
  new UploadFailure(`the store did not take the file within ${timeoutMs / 1000} s`, { passing: true, cause })
