import type { Selectable } from 'kysely'
import type { Tables } from '../base/tables.ts'

/** A job as it is kept. */
export type JobRow = Selectable<Tables['jobs']>

/** Where a job waits: in a queue of a project, or before an inference endpoint for one organization. */
export type JobPlace = { readonly queueId: string } | { readonly organizationId: string; readonly endpoint: string }

/** A queue as a path names it, in a project that was found. */
export interface QueueName {
  readonly projectId: string
  readonly name: string
}

/** BullMQ's name of a place; it takes no colon (platform reference, section 14.4). */
export const bullNameOf = (place: JobPlace): string =>
  'queueId' in place ? `q.${place.queueId}` : `e.${place.organizationId}.${place.endpoint}`

/** Where the job of a row waits: one of its two columns is set. */
export const placeOf = (row: Pick<JobRow, 'queue_id' | 'organization_id' | 'endpoint'>): JobPlace =>
  row.queue_id === null
    ? { organizationId: row.organization_id, endpoint: row.endpoint ?? '' }
    : { queueId: row.queue_id }
