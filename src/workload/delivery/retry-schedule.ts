/** Longer waits that a receiver asks for are cut to this, in milliseconds. */
const LONGEST_ASKED = 15 * 60_000
/** Part of a wait by which it is longer or shorter, so that what failed together does not come back together. */
const JITTER = 0.2

/** When to try again. */
export interface RetrySchedule {
  /** Milliseconds before the next attempt after so many that failed in a row, never less than a receiver `asked` for. */
  waitAfter(failures: number, asked?: number): number
  /** No wait is longer than this: one that was noted by another clock may seem so. */
  readonly longest: number
}

/** `waits` are in milliseconds: before the first attempt, the second and so on; the last stands for all that follow. */
export function retrySchedule(waits: readonly number[], random: () => number): RetrySchedule {
  const around = (ms: number) => ms * (1 - JITTER + 2 * JITTER * random())
  return {
    waitAfter: (failures, asked = 0) => Math.max(around(waits[failures] ?? waits.at(-1) ?? 0), asked),
    longest: Math.max(LONGEST_ASKED, ...waits) * (1 + JITTER),
  }
}

/** The milliseconds in `Retry-After`, which has seconds or a date; undefined where it has neither. */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_ASKED)
}
