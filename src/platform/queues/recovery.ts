import type { Db } from '../base/database.ts'
import type { Dispatch } from './dispatch.ts'
import { bullNameOf, placeOf } from './job-place.ts'
import type { Transitions } from './transitions.ts'

/** How many jobs are added at a time. */
const CHUNK = 500

/** What brings the hand-out back in step with the records. */
export interface Recovery {
  /** At the start: whatever has not ended waits or is held, also when the hand-out lost its memory. */
  sweep(): Promise<void>
  /** Now and then: attempts whose worker is silent are failed, and their jobs wait again. Resolves with how many. */
  recover(): Promise<number>
}

export interface RecoveryOptions {
  readonly db: Db
  readonly dispatch: Dispatch
  readonly transitions: Transitions
}

export function createRecovery({ db, dispatch, transitions }: RecoveryOptions): Recovery {
  const place = ['queue_id', 'organization_id', 'endpoint'] as const

  async function failLapsed(name: string, id: string): Promise<void> {
    // In this order: whoever takes it after we looked begins another attempt than the one we read.
    const row = await db
      .selectFrom('jobs')
      .select(['id', 'attempts as number'])
      .where('id', '=', id)
      .where('status', '=', 'running')
      .executeTakeFirst()
    if (row && (await dispatch.isWaiting(name, id))) await transitions.fail(row)
  }

  return {
    async sweep() {
      const rows = await db
        .selectFrom('jobs')
        .select(['id', ...place])
        .where('finish_time', 'is', null)
        .orderBy('create_time')
        .orderBy('id')
        .execute()
      const waiting = new Map<string, string[]>()
      for (const row of rows) {
        const name = bullNameOf(placeOf(row))
        const ids = waiting.get(name)
        if (ids) ids.push(row.id)
        else waiting.set(name, [row.id])
      }
      for (const [name, ids] of waiting)
        for (let from = 0; from < ids.length; from += CHUNK) await dispatch.add(name, ids.slice(from, from + CHUNK))
    },
    async recover() {
      const rows = await db.selectFrom('jobs').select(place).distinct().where('status', '=', 'running').execute()
      let recovered = 0
      for (const name of new Set(rows.map((row) => bullNameOf(placeOf(row))))) {
        const ids = await dispatch.recover(name)
        for (const id of ids) await failLapsed(name, id)
        recovered += ids.length
      }
      return recovered
    },
  }
}
