import { randomUUID } from 'node:crypto'
import type { Db } from '../base/database.ts'
import { notFound } from '../base/errors.ts'
import type { JobPlace, JobRow } from './job-place.ts'

/** What a job is made of. */
export interface NewJob {
  readonly place: JobPlace
  readonly organizationId: string
  /** JSON, like `metadata`. */
  readonly input: string
  readonly metadata: string | undefined
  readonly webhook: string | undefined
}

/** Part of a collection, newest first. */
export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** The records of jobs; those that ended longer ago than the retention time are not there (platform reference, 14.5). */
export interface JobStore {
  /** Throws 404 when the queue is gone by now. */
  insert(job: NewJob): Promise<JobRow>
  find(place: JobPlace, id: string): Promise<JobRow | undefined>
  list(place: JobPlace, slice: Slice): Promise<readonly JobRow[]>
  count(place: JobPlace): Promise<number>
  /** Pending and running jobs of the queue. */
  lengthOf(queueId: string): Promise<number>
  removeOld(): Promise<void>
}

export interface JobStoreOptions {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly retentionMs: number
}

export function createJobStore({ db, now, retentionMs }: JobStoreOptions): JobStore {
  const oldest = () => new Date(now() - retentionMs)
  const readable = (place: JobPlace) => {
    const jobs = db
      .selectFrom('jobs')
      .where((job) => job.or([job('finish_time', 'is', null), job('finish_time', '>', oldest())]))
    return 'queueId' in place
      ? jobs.where('queue_id', '=', place.queueId)
      : jobs.where('organization_id', '=', place.organizationId).where('endpoint', '=', place.endpoint)
  }
  return {
    insert({ place, organizationId, input, metadata, webhook }) {
      const time = new Date(now())
      const row = {
        id: randomUUID(),
        organization_id: organizationId,
        queue_id: 'queueId' in place ? place.queueId : null,
        endpoint: 'queueId' in place ? null : place.endpoint,
        input,
        metadata: metadata ?? null,
        webhook: webhook ?? null,
        status: 'pending' as const,
        events: JSON.stringify([{ action: 'created', time }]),
        create_time: time,
        update_time: time,
      }
      return db.transaction().execute(async (transaction) => {
        // A queue that is being deleted cancels the jobs it has, so none may join it meanwhile.
        if ('queueId' in place)
          await transaction
            .selectFrom('queues')
            .select('id')
            .where('id', '=', place.queueId)
            .forKeyShare()
            .executeTakeFirstOrThrow(() => notFound('queue'))
        return transaction.insertInto('jobs').values(row).returningAll().executeTakeFirstOrThrow()
      })
    },
    find: (place, id) => readable(place).selectAll().where('id', '=', id).executeTakeFirst(),
    list: (place, { offset, limit }) =>
      readable(place)
        .selectAll()
        .orderBy('create_time', 'desc')
        .orderBy('id', 'desc')
        .offset(offset)
        .limit(limit)
        .execute(),
    async count(place) {
      const { count } = await readable(place)
        .select((job) => job.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async lengthOf(queueId) {
      const { count } = await db
        .selectFrom('jobs')
        .select((job) => job.fn.countAll().as('count'))
        .where('queue_id', '=', queueId)
        .where('finish_time', 'is', null)
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async removeOld() {
      await db.deleteFrom('jobs').where('finish_time', '<=', oldest()).execute()
    },
  }
}
