import { sql } from 'kysely'
import type { Db } from './database.ts'

/** From the first counted action on. */
const WINDOW_MS = 60_000
/** Scopes after which those are forgotten whose window is over. */
const MANY = 10_000

/** Counts actions of one scope, e.g. `restarts:{organization id}`, in windows of a minute. */
export interface RateWindows {
  /** Counts one more, unless there have been `limit`: then it is not counted, and the seconds to wait are returned. */
  count(scope: string, limit: number): Promise<number | undefined>
}

const secondsLeft = (began: number, time: number): number => Math.max(1, Math.ceil((began + WINDOW_MS - time) / 1000))

/** Windows that all processes share. */
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
      return count <= limit ? undefined : secondsLeft(window_start.getTime(), time)
    },
  }
}

/** Windows of a process that is the only one; a restart begins new ones. */
export function createOwnRateWindows(now: () => number): RateWindows {
  const windows = new Map<string, { readonly began: number; count: number }>()
  const isOver = ({ began }: { readonly began: number }, time: number) => began <= time - WINDOW_MS
  return {
    async count(scope, limit) {
      const time = now()
      if (windows.size >= MANY) for (const [old, window] of windows) if (isOver(window, time)) windows.delete(old)
      let window = windows.get(scope)
      if (!window || isOver(window, time)) {
        window = { began: time, count: 0 }
        windows.set(scope, window)
      }
      if (window.count >= limit) return secondsLeft(window.began, time)
      window.count++
      return undefined
    },
  }
}
