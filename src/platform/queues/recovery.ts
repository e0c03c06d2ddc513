import { sql } from 'kysely'
import type { Db } from '../base/database.ts'
import type { Dispatch } from './dispatch.ts'
import { bullNameOf, type JobRow, placeOf } from './job-place.ts'
import type { Transitions } from './transitions.ts'

/** How many jobs are added at a time. */
const CHUNK = 500

/** What brings the hand-out back in step with the records. */
export interface Recovery {
  /** At the start of the only process there is: whoever held a job is gone, so its attempt has failed and it waits again. */
  release(): Promise<void>
  /** At the start: whatever has not ended waits or is held, also when the hand-out lost its memory. */
  sweep(): Promise<void>
  /** Now and then: does the same where the hand-out knows fewer jobs than there are. Resolves with whether it does so anywhere. */
  sweepMissing(): Promise<boolean>
  /** Now and then: attempts whose worker is silent are failed, and their jobs wait again. Resolves with how many. */
  recover(): Promise<number>
}

export interface RecoveryOptions {
  readonly db: Db
  readonly dispatch: Dispatch
  readonly transitions: Transitions
}

export function createRecovery({ db, dispatch, transitions }: RecoveryOptions): Recovery {
  const columns = ['queue_id', 'organization_id', 'endpoint'] as const
  const open = () => db.selectFrom('jobs').where('finish_time', 'is', null)

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

  /** Jobs that are there keep their place, the others come behind them, the oldest first. */
  async function addAll(place: Pick<JobRow, (typeof columns)[number]>): Promise<void> {
    const { queue_id, organization_id, endpoint } = place
    const there =
      queue_id === null
        ? open().where('organization_id', '=', organization_id).where('endpoint', '=', endpoint)
        : open().where('queue_id', '=', queue_id)
    const rows = await there.select('id').orderBy('create_time').orderBy('id').execute()
    const ids = rows.map(({ id }) => id)
    const name = bullNameOf(placeOf(place))
    for (let from = 0; from < ids.length; from += CHUNK) await dispatch.add(name, ids.slice(from, from + CHUNK))
  }

  return {
    async release() {
      const places = await open().select(columns).distinct().execute()
      for (const place of places) await dispatch.release(bullNameOf(placeOf(place)))
      const running = await open().select(['id', 'attempts as number']).where('status', '=', 'running').execute()
      for (const attempt of running) await transitions.fail(attempt)
    },
    async sweep() {
      for (const place of await open().select(columns).distinct().execute()) await addAll(place)
    },
    async sweepMissing() {
      const places = await open()
        .select([...columns, sql<number>`count(*)::integer`.as('length')])
        .groupBy(columns)
        .execute()
      let isMissing = false
      for (const place of places) {
        if ((await dispatch.count(bullNameOf(placeOf(place)))) >= place.length) continue
        isMissing = true
        await addAll(place)
      }
      return isMissing
    },
    async recover() {
      // Also where no record says so: what ended while nobody could be told of it is held for ever otherwise.
      const rows = await open().select(columns).distinct().execute()
      let recovered = 0
      for (const row of rows) {
        const name = bullNameOf(placeOf(row))
        const ids = await dispatch.recover(name)
        for (const id of ids) await failLapsed(name, id)
        recovered += ids.length
      }
      return recovered
    },
  }
}
