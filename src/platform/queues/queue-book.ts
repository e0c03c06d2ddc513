import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Log } from '../../common/log.ts'
import type { QueueBody, QueuePatch } from '../../contracts/platform/queue.ts'
import type { Db } from '../base/database.ts'
import { messageOf, notFound, PlatformError } from '../base/errors.ts'
import type { Tables } from '../base/tables.ts'
import type { Dispatch } from './dispatch.ts'
import { bullNameOf, type QueueName } from './job-place.ts'
import type { Slice } from './job-store.ts'
import type { Transitions } from './transitions.ts'

/** A queue as it is kept. */
export type QueueRow = Selectable<Tables['queues']>

/** The queues of projects (platform reference, section 11). */
export interface QueueBook {
  /** Throws 400 `name_conflict`. */
  create(projectId: string, body: QueueBody): Promise<QueueRow>
  /** Throws 404. */
  find(queue: QueueName): Promise<QueueRow>
  /** Newest first. */
  list(projectId: string, slice: Slice): Promise<readonly QueueRow[]>
  /** Members that are undefined stay. Throws 404. */
  change(queue: QueueRow, patch: QueuePatch): Promise<QueueRow>
  /** Cancels its jobs, and drops the connection of every group for good. */
  remove(queue: QueueRow): Promise<void>
}

export interface QueueBookOptions {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly transitions: Transitions
  readonly dispatch: Dispatch
  /** Called after calls to be made were stored. */
  readonly onWebhooks: () => void
  readonly log: Log
}

export function createQueueBook({ db, now, transitions, dispatch, onWebhooks, log }: QueueBookOptions): QueueBook {
  return {
    async create(projectId, { name, display_name, description }) {
      const time = new Date(now())
      const row = await db
        .insertInto('queues')
        .values({
          id: randomUUID(),
          project_id: projectId,
          name,
          display_name: display_name ?? name,
          description: description ?? null,
          create_time: time,
          update_time: time,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst()
      if (!row) throw new PlatformError(400, `name: "${name}" is already in use`, { slug: 'name_conflict' })
      return row
    },
    find: ({ projectId, name }) =>
      db
        .selectFrom('queues')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('name', '=', name)
        .executeTakeFirstOrThrow(() => notFound('queue')),
    list: (projectId, { offset, limit }) =>
      db
        .selectFrom('queues')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('create_time', 'desc')
        .orderBy('id', 'desc')
        .offset(offset)
        .limit(limit)
        .execute(),
    change: ({ id, name }, { display_name, description }) =>
      db
        .updateTable('queues')
        .set({
          display_name: display_name === null ? name : display_name,
          description,
          update_time: new Date(now()),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(() => notFound('queue')),
    async remove({ id }) {
      const noted = await db.transaction().execute(async (transaction) => {
        // First, so that no job joins it from here on.
        await transaction.deleteFrom('queues').where('id', '=', id).execute()
        await transaction
          .updateTable('container_groups')
          .set({
            queue_id: null,
            definition: sql<string>`definition - 'queue_connection' - 'queue_autoscaler'`, // one needs the other
            update_time: new Date(now()),
          })
          .where('queue_id', '=', id)
          .execute()
        return transitions.cancelAll(transaction, id)
      })
      if (noted > 0) onWebhooks()
      await dispatch
        .drop(bullNameOf({ queueId: id }))
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'the jobs of a deleted queue still wait'))
    },
  }
}
