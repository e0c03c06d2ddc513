import type { Job } from 'bullmq'
import type { QueueEntry, QueueRequest } from './job-queue.ts'

/** What is written once. Only whoever wants the prompt stopped, or revives it, writes it again. */
export interface StoredRequest extends Omit<QueueRequest, 'priority'> {
  readonly cancelled: boolean
  /** Tells who adds an entry whether it is the one that stands under the id. */
  readonly submission: string
}

/** What holders write: small beside the request, and written often. */
export interface StoredProgress {
  readonly note?: string
  /** How many of the takings that BullMQ counts were given back. */
  readonly givenBack: number
}

/** The last note, written in one step with the end. */
export interface StoredEnd {
  readonly note: string
  /** The token of who ended it: tells whether an end whose answer was lost took place. */
  readonly by: string
}

export type EntryJob = Job<StoredRequest, StoredEnd>

/** BullMQ refuses ids that are numbers or have a colon; ours may. */
export const jobIdOf = (id: string): string => `p-${encodeURIComponent(id)}`

/** BullMQ's priorities begin at 1 and smaller ones go first; ours are -1000 to 1000 and larger ones go first. */
export const toJobPriority = (priority: number): number => 1001 - priority

const progressOf = (job: EntryJob): StoredProgress =>
  typeof job.progress === 'object' ? (job.progress as StoredProgress) : { givenBack: 0 }

export const givenBackOf = (job: EntryJob): number => progressOf(job).givenBack

/** A stored job as the port tells it. `stage` may be older than the job itself. */
export function entryOf(job: EntryJob, stage: QueueEntry['stage'], position?: number): QueueEntry {
  const { id, run, asked, created, cancelled } = job.data
  const { note, givenBack } = progressOf(job)
  const ended = job.finishedOn !== undefined
  return {
    id,
    run,
    asked,
    created,
    cancelled,
    priority: toJobPriority(job.opts.priority ?? toJobPriority(0)), // the same formula leads back
    stage: ended ? 'ended' : stage,
    starts: job.attemptsStarted - givenBack,
    note: ended ? job.returnvalue.note : note,
    position: ended ? undefined : position,
  }
}
