import { randomInt } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Tables } from '../base/tables.ts'
import type { JobRow } from './job-place.ts'
import { inferenceJobText, queueJobText } from './job-text.ts'

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LETTERS = 22

/** The last word of a message's type: unlike the status, it has one l. */
const words = { succeeded: 'succeeded', failed: 'failed', cancelled: 'canceled' } as const

/** The final status of a job. */
export type EndStatus = keyof typeof words

/**
 * Notes the calls to be made for jobs that have just ended, in the transaction that ended them: none is lost, and none
 * is made twice (platform reference, sections 14.4 and 24.1). Resolves with how many there are.
 */
export async function noteWebhooks(
  transaction: Transaction<Tables>,
  rows: readonly JobRow[],
  status: EndStatus,
  time: Date,
): Promise<number> {
  const called = rows.flatMap((row) => (row.webhook === null ? [] : { row, url: row.webhook }))
  if (called.length === 0) return 0
  const names = await organizationNames(transaction, called)
  const messages = called.map(({ row, url }) => {
    const [kind, data] =
      row.queue_id === null
        ? ['inference_endpoint', inferenceJobText(row, names.get(row.organization_id) ?? '')]
        : ['queue', queueJobText(row)]
    return {
      id: messageId(),
      organization_id: row.organization_id,
      url,
      body: `{"type":"${kind}.job.${words[status]}","timestamp":"${time.toISOString()}","data":${data}}`,
      next_attempt: time,
      create_time: time,
    }
  })
  await transaction.insertInto('webhook_messages').values(messages).execute()
  return messages.length
}

async function organizationNames(transaction: Transaction<Tables>, called: readonly { readonly row: JobRow }[]) {
  const ids = [...new Set(called.map(({ row }) => row.organization_id))]
  const rows = await transaction.selectFrom('organizations').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

const messageId = (): string =>
  `msg_${Array.from({ length: ID_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`
