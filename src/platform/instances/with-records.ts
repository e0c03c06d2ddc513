import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../base/database.ts'

/** What is done when the records are away. */
export interface AwayOptions {
  /** Between two tries, in milliseconds. */
  readonly pauseMs: number
  /** Ends the tries. */
  readonly end: AbortSignal
  readonly onAway: (error: unknown) => void
}

/**
 * Does `act`, and does it again as long as it fails because the records do not answer: what becomes of containers in that
 * time must be written. Throws what has another reason, and anything once `end` has come.
 */
export async function withRecords(
  db: Db,
  act: () => Promise<void>,
  { pauseMs, end, onAway }: AwayOptions,
): Promise<void> {
  for (let tried = 1; ; tried++)
    try {
      return await act()
    } catch (error) {
      if (end.aborted || (await answers(db))) throw error
      if (tried === 1) onAway(error)
      await sleep(pauseMs, undefined, { signal: end }).catch(() => undefined) // then this is the last try
    }
}

async function answers(db: Db): Promise<boolean> {
  try {
    await sql`select 1`.execute(db)
    return true
  } catch {
    return false
  }
}
