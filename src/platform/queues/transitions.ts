import { sql, type Transaction } from 'kysely'
import type { Db } from '../base/database.ts'
import type { Tables } from '../base/tables.ts'
import type { JobRow } from './job-place.ts'
import { type EndStatus, noteWebhooks } from './webhook-message.ts'

/** One hand-out of a job. */
export interface Attempt {
  readonly id: string
  /** Counts the hand-outs of this job from 1. */
  readonly number: number
  /** JSON. */
  readonly input: string
}

/**
 * The states of jobs (platform reference, section 14.1). Each transition is one conditional update that checks the state
 * it leaves, and for reports the attempt, so a late report changes nothing.
 */
export interface Transitions {
  /** Begins an attempt. Undefined when there is nothing to do: the job has ended, or ends now because this would be one too many. */
  start(id: string): Promise<Attempt | undefined>
  /** `output` is JSON; undefined for none. */
  succeed(attempt: Attempt, output: string | undefined): Promise<void>
  /** Resolves with whether the job is to be handed out again. If not, `output`, which is JSON, tells why. */
  fail(attempt: Pick<Attempt, 'id' | 'number'>, output?: string): Promise<boolean>
  /** Resolves with whether it was this call that ended the job. */
  cancel(id: string): Promise<boolean>
  /** Within the caller's transaction: cancels what a queue still has. Resolves with how many calls to make that leaves. */
  cancelAll(transaction: Transaction<Tables>, queueId: string): Promise<number>
}

export interface TransitionsOptions {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  /** The most attempts of a job. */
  readonly attempts: number
  /** Called after calls to be made were stored. */
  readonly onWebhooks: () => void
}

const open = ['pending', 'running'] as const

export function createTransitions({ db, now, attempts, onWebhooks }: TransitionsOptions): Transitions {
  const event = (action: string, time: Date) =>
    sql<JobRow['events']>`events || ${JSON.stringify([{ action, time }])}::jsonb`

  const ending = (transaction: Transaction<Tables>, status: EndStatus, time: Date, output: string | null = null) =>
    transaction
      .updateTable('jobs')
      .set({
        status,
        output,
        events: event(status, time) as unknown as string, // written as JSON text elsewhere; here the database makes it
        update_time: time,
        finish_time: time,
      })
      .returningAll()

  type Ending = ReturnType<typeof ending>

  async function end(status: EndStatus, which: (update: Ending) => Ending, output?: string): Promise<boolean> {
    const time = new Date(now())
    const { ended, noted } = await db.transaction().execute(async (transaction) => {
      const rows = await which(ending(transaction, status, time, output)).execute()
      return { ended: rows.length > 0, noted: await noteWebhooks(transaction, rows, status, time) }
    })
    if (noted > 0) onWebhooks()
    return ended
  }

  return {
    async start(id) {
      const time = new Date(now())
      const row = await db
        .updateTable('jobs')
        .set({
          status: 'running',
          attempts: sql<number>`attempts + 1`,
          events: event('started', time) as unknown as string, // as above
          update_time: time,
        })
        .where('id', '=', id)
        .where('status', 'in', open)
        .where('attempts', '<', attempts)
        .returning(['id', 'attempts as number', 'input'])
        .executeTakeFirst()
      if (row) return row
      await end('failed', (update) =>
        update.where('id', '=', id).where('status', 'in', open).where('attempts', '>=', attempts),
      )
      return undefined
    },
    async succeed({ id, number }, output) {
      await end(
        'succeeded',
        (update) => update.where('id', '=', id).where('status', '=', 'running').where('attempts', '=', number),
        output,
      )
    },
    async fail({ id, number }, output) {
      if (number >= attempts) {
        await end(
          'failed',
          (update) => update.where('id', '=', id).where('status', '=', 'running').where('attempts', '=', number),
          output,
        )
        return false
      }
      const { numUpdatedRows } = await db
        .updateTable('jobs')
        .set({ status: 'pending', update_time: new Date(now()) })
        .where('id', '=', id)
        .where('status', '=', 'running')
        .where('attempts', '=', number)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    cancel: (id) => end('cancelled', (update) => update.where('id', '=', id).where('status', 'in', open)),
    async cancelAll(transaction, queueId) {
      const time = new Date(now())
      const rows = await ending(transaction, 'cancelled', time)
        .where('queue_id', '=', queueId)
        .where('status', 'in', open)
        .execute()
      return noteWebhooks(transaction, rows, 'cancelled', time)
    },
  }
}
