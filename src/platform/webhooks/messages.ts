import { type Selectable, sql } from 'kysely'
import type { Db } from '../base/database.ts'
import type { Tables } from '../base/tables.ts'

/** A call that is to be made. */
export type Message = Pick<
  Selectable<Tables['webhook_messages']>,
  'id' | 'organization_id' | 'url' | 'body' | 'attempts'
>

/** The stored messages, from which each process takes what no other has taken. Times are epoch milliseconds. */
export interface Messages {
  /** Takes at most so many that are due. Nobody else does before `until`: then they are due again. */
  claim(now: number, until: number, most: number): Promise<readonly Message[]>
  /** Makes those due that no attempt has been noted for: for when nobody can be making it. */
  release(now: number): Promise<void>
  /** When the next one is due. */
  nextDue(): Promise<number | undefined>
  /** Makes it due at another time, after so many attempts. */
  postpone(message: Message, attempts: number, until: number): Promise<void>
  remove(message: Message): Promise<void>
  /** Removes it and tells its organization why in the log. */
  giveUp(message: Message, text: string, now: number): Promise<void>
}

export function createMessages(db: Db): Messages {
  return {
    async claim(now, until, most) {
      const { rows } = await sql<Message>`
        update webhook_messages set next_attempt = ${new Date(until)}
        where id in (
          select id from webhook_messages where next_attempt <= ${new Date(now)}
          order by next_attempt limit ${most} for update skip locked)
        returning id, organization_id, url, body, attempts`.execute(db)
      return rows
    },
    async release(now) {
      await db
        .updateTable('webhook_messages')
        .set({ next_attempt: new Date(now) })
        .where('attempts', '=', 0)
        .execute()
    },
    async nextDue() {
      const { next } = await db
        .selectFrom('webhook_messages')
        .select(({ fn }) => fn.min('next_attempt').as('next'))
        .executeTakeFirstOrThrow()
      return (next as Date | null)?.getTime()
    },
    async postpone(message, attempts, until) {
      await db
        .updateTable('webhook_messages')
        .set({ attempts, next_attempt: new Date(until) })
        .where('id', '=', message.id)
        // Who was so slow that another process took it over does not count.
        .where('attempts', '=', message.attempts)
        .execute()
    },
    async remove({ id }) {
      await db.deleteFrom('webhook_messages').where('id', '=', id).execute()
    },
    async giveUp({ id, organization_id, body }, text_log, now) {
      // The body was built here: the job as its owner reads it.
      const { data } = JSON.parse(body) as { readonly data: { readonly id: string } }
      await db.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('webhook_messages')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        if (numDeletedRows === 0n) return
        const time = new Date(now)
        await transaction
          .insertInto('log_entries')
          .values({
            organization_id,
            time,
            receive_time: time,
            severity: 'error',
            resource_type: 'webhook',
            labels: JSON.stringify({ job_id: data.id, webhook_id: id }),
            text_log,
          })
          .execute()
      })
    },
  }
}
