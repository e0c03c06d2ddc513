/** When signing keys come and go; milliseconds (platform reference, section 21). */
export interface KeySchedule {
  /** How long a key is published. A second one is made half-way, so that there are always two. */
  readonly lifetimeMs: number
  /** So long before it goes a key signs no more: longer than a token lives. */
  readonly handOverMs: number
}

const DAY_MS = 86_400_000

/** A new key each week. */
export const weekly: KeySchedule = { lifetimeMs: 14 * DAY_MS, handOverMs: 600_000 }

/**
 * Creation times of the keys that are missing beside those that are there, all in epoch milliseconds. A key is dated by
 * the schedule, however late somebody comes to make it; at a first start one is dated back.
 */
export function missingKeys(present: readonly number[], now: number, { lifetimeMs }: KeySchedule): readonly number[] {
  const offset = lifetimeMs / 2
  const [one, another] = present
  if (one === undefined) return [now - offset, now]
  if (another !== undefined) return []
  return [one + offset <= now ? one + offset : one - offset]
}
