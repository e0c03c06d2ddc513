import { sql } from 'kysely'
import type { Db } from './database.ts'

/** From the first counted action on. */
const WINDOW_MS = 60_000

/** Counts actions of one scope, e.g. `restarts:{organization id}`, in windows of a minute that all processes share. */
export interface RateWindows {
  /** Counts one more, unless there have been `limit`: then it is not counted, and the seconds to wait are returned. */
  count(scope: string, limit: number): Promise<number | undefined>
}

export function createRateWindows(db: Db, now: () => number): RateWindows {
  return {
    async count(scope, limit) {
      const time = now()
      const began = new Date(time)
      const isOver = sql`rate_windows.window_start <= ${new Date(time - WINDOW_MS)}`
      // One above the limit stands for all that were refused.
      const { count, window_start } = await db
        .insertInto('rate_windows')
        .values({ scope, window_start: began, count: 1 })
        .onConflict((conflict) =>
          conflict.column('scope').doUpdateSet({
            window_start: sql`case when ${isOver} then ${began} else rate_windows.window_start end`,
            count: sql`case when ${isOver} then 1 else least(rate_windows.count + 1, ${limit + 1}::integer) end`,
          }),
        )
        .returning(['count', 'window_start'])
        .executeTakeFirstOrThrow()
      if (count <= limit) return undefined
      return Math.max(1, Math.ceil((window_start.getTime() + WINDOW_MS - time) / 1000))
    },
  }
}
