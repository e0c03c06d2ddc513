import { CallFailure } from './call-failure.ts'

const CONNECT_MS = 5000
/** Bytes a second that any receiver is expected to take: a large body gets more time than a small one. */
const SLOWEST = 2 ** 20
/** Verifiers refuse a signature that is older than five minutes. */
const LONGEST_MS = 4 * 60_000

/** How long one call may take. */
export interface CallLimits {
  /** Aborts with a `CallFailure` when a limit is reached, or with the reason of the signal that was given. */
  readonly signal: AbortSignal
  /** To be called when the connection is there, and for each piece that it takes. */
  moved(): void
  /** To be called at the end, so that nothing waits any more: an answer may come before the body has left. */
  end(): void
}

/**
 * A call ends when there is no connection within five seconds, when nothing moves for `timeoutMs`, and altogether after
 * that and a second for each MiB of its body, as long as verifiers would take it.
 */
export function callLimits(bytes: number, timeoutMs: number, outer: AbortSignal): CallLimits {
  const late = new AbortController()
  const after = (ms: number, what: string) =>
    setTimeout(() => late.abort(new CallFailure(`no ${what} within ${ms / 1000} s`)), ms)
  const grown = timeoutMs + 1000 * Math.floor(bytes / SLOWEST)
  let silence = after(Math.min(CONNECT_MS, timeoutMs), 'connection')
  const whole = after(Math.max(timeoutMs, Math.min(grown, LONGEST_MS)), 'answer')
  let ended = false
  return {
    signal: AbortSignal.any([outer, late.signal]),
    moved() {
      if (ended) return
      clearTimeout(silence)
      silence = after(timeoutMs, 'answer')
    },
    end() {
      ended = true
      clearTimeout(silence)
      clearTimeout(whole)
    },
  }
}
