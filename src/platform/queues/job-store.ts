import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../base/database.ts'
import { notFound } from '../base/errors.ts'
import type { JobPlace, JobRow, QueueName } from './job-place.ts'

/** What a job is made of. */
export interface NewJob {
  readonly place: QueueName | { readonly organizationId: string; readonly endpoint: string }
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
  /** Throws 404 when there is no such queue. */
  insert(job: NewJob): Promise<JobRow>
  find(place: JobPlace, id: string): Promise<JobRow | undefined>
  findIn(queue: QueueName, id: string): Promise<JobRow | undefined>
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
  const readable = () =>
    db.selectFrom('jobs').where((job) => job.or([job('finish_time', 'is', null), job('finish_time', '>', oldest())]))
  const readableAt = (place: JobPlace) =>
    'queueId' in place
      ? readable().where('queue_id', '=', place.queueId)
      : readable().where('organization_id', '=', place.organizationId).where('endpoint', '=', place.endpoint)
  return {
    async insert({ place, organizationId, input, metadata = null, webhook = null }) {
      const time = new Date(now())
      const id = randomUUID()
      const events = JSON.stringify([{ action: 'created', time }])
      const common = {
        id,
        organization_id: organizationId,
        input,
        metadata,
        webhook,
        status: 'pending' as const,
        events,
      }
      if ('endpoint' in place) {
        const row = { ...common, endpoint: place.endpoint, create_time: time, update_time: time }
        return db.insertInto('jobs').values(row).returningAll().executeTakeFirstOrThrow()
      }
      // One statement, for there may be many. It locks the queue because one that is being deleted cancels the jobs it has,
      // so none may join it meanwhile.
      const { rows } = await sql<JobRow>`
        insert into jobs (id, organization_id, queue_id, input, metadata, webhook, status, events, create_time, update_time)
        select ${id}::uuid, ${organizationId}::uuid, id, ${input}::text, ${metadata}::text, ${webhook}::text,
          'pending', ${events}::jsonb, ${time}::timestamptz, ${time}::timestamptz
        from queues where project_id = ${place.projectId} and name = ${place.name} for key share
        returning *`.execute(db)
      if (!rows[0]) throw notFound('queue')
      return rows[0]
    },
    find: (place, id) => readableAt(place).selectAll().where('id', '=', id).executeTakeFirst(),
    findIn: ({ projectId, name }, id) =>
      readable()
        .innerJoin('queues', 'queues.id', 'jobs.queue_id')
        .selectAll('jobs')
        .where('queues.project_id', '=', projectId)
        .where('queues.name', '=', name)
        .where('jobs.id', '=', id)
        .executeTakeFirst(),
    list: (place, { offset, limit }) =>
      readableAt(place)
        .selectAll()
        .orderBy('create_time', 'desc')
        .orderBy('id', 'desc')
        .offset(offset)
        .limit(limit)
        .execute(),
    async count(place) {
      const { count } = await readableAt(place)
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
