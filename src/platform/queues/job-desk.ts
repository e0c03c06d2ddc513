import type { Log } from '../../common/log.ts'
import { messageOf, notFound } from '../base/errors.ts'
import type { Dispatch } from './dispatch.ts'
import { createHandIn } from './hand-in.ts'
import { bullNameOf, type JobPlace, type JobRow, placeOf, type QueueName } from './job-place.ts'
import type { JobStore, NewJob, Slice } from './job-store.ts'
import type { Transitions } from './transitions.ts'

/** What callers can do with jobs. */
export interface JobDesk {
  /** Resolves when the record is written, which is what counts. Throws 404 when there is no such queue. */
  create(job: NewJob): Promise<JobRow>
  /** Throws 404. */
  read(place: JobPlace, id: string): Promise<JobRow>
  findIn(queue: QueueName, id: string): Promise<JobRow | undefined>
  /** Newest first. */
  list(place: JobPlace, slice: Slice): Promise<readonly JobRow[]>
  count(place: JobPlace): Promise<number>
  /** Pending and running jobs of a queue. */
  lengthOf(queueId: string): Promise<number>
  /** Does nothing when it has ended. Throws 404. */
  cancel(place: JobPlace, id: string): Promise<void>
  /** Adds jobs that could not be added when they were created. */
  addMissing(): Promise<void>
}

export interface JobDeskOptions {
  readonly store: JobStore
  readonly transitions: Transitions
  readonly dispatch: Dispatch
  /** Called after jobs were added to the hand-out. */
  readonly onAdded: (place: JobPlace) => void
  readonly log: Log
}

export function createJobDesk({ store, transitions, dispatch, onAdded, log }: JobDeskOptions): JobDesk {
  const handIn = createHandIn({ dispatch, onAdded, log })

  async function read(place: JobPlace, id: string): Promise<JobRow> {
    const row = await store.find(place, id)
    if (!row) throw notFound('job')
    return row
  }
  return {
    async create(job) {
      const row = await store.insert(job)
      handIn.add(placeOf(row), row.id)
      return row
    },
    read,
    findIn: store.findIn,
    list: store.list,
    count: store.count,
    lengthOf: store.lengthOf,
    async cancel(place, id) {
      const { status } = await read(place, id)
      const ended = await transitions.cancel(id)
      handIn.remove(place, id)
      if (!ended || status !== 'pending') return
      // Only so that nobody takes it in vain.
      await dispatch
        .remove(bullNameOf(place), id)
        .catch((error: unknown) => log.debug({ id, reason: messageOf(error) }, 'a cancelled job still waits'))
    },
    addMissing: handIn.addMissing,
  }
}
