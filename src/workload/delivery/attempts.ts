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

/** Is told of every attempt that ended by itself, with what went wrong in a sentence without secrets. */
export type OnAttempt = (outcome: 'ok' | 'failed', error?: string) => void

/**
 * `work` until it succeeds, fails for good or has been tried often enough; between attempts exponential back-off with
 * full jitter, or what the store asks for. Throws the last `UploadFailure`, or `signal`'s reason when that aborts.
 */
export async function withAttempts<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { attempts, timeoutMs, random }: Patience,
  signal: AbortSignal,
  onAttempt: OnAttempt,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const result = await attemptOf(work, timeoutMs, signal)
    if (!('failure' in result)) {
      onAttempt('ok')
      return result.done
    }
    const { failure } = result
    onAttempt('failed', failure.message)
    if (!failure.passing || attempt >= attempts) throw failure
    const backOff = random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1))
    await pause(Math.min(failure.retryAfter ?? backOff, LONGEST_MS), undefined, { signal })
  }
}

async function attemptOf<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly done: T } | { readonly failure: UploadFailure }> {
  const late = AbortSignal.timeout(timeoutMs)
  try {
    return { done: await work(AbortSignal.any([signal, late])) }
  } catch (cause) {
    signal.throwIfAborted()
    const tooLate = `the store did not take the file within ${timeoutMs / 1000} s`
    if (late.aborted) return { failure: new UploadFailure(tooLate, { passing: true, cause }) }
    return { failure: cause instanceof UploadFailure ? cause : unforeseen(cause) }
  }
}

/** A mistake in this program: it would be made again. */
const unforeseen = (cause: unknown) => new UploadFailure('internal error', { passing: false, cause })
