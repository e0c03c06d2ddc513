import type { JobRecord, JobStatus } from '../../contracts/job.ts'
import type { QueueEntry } from '../queue/job-queue.ts'
import { deliveryRecords } from './delivery-record.ts'
import type { JobAnswer, JobView } from './job.ts'
import { areThere, errorOf, type LifeNote, readNote } from './life-note.ts'

const time = (epoch: number): string => new Date(epoch).toISOString()

/** What is told of a prompt that is not, or no more, in the hands of this server. */
export async function viewOf(entry: QueueEntry): Promise<JobView> {
  const note = readNote(entry.note)
  const failure = note.outcome?.failure
  return {
    record: recordOfEntry(entry, note),
    answer: await answerOf(note),
    head: failure ? undefined : note.executed?.head,
    error: failure && errorOf(failure),
    files: note.outcome && note.executed && (await areThere(note.executed)) ? note.executed.files : [],
  }
}

/** The record alone. */
export function recordOfEntry(entry: QueueEntry, note: LifeNote = readNote(entry.note)): JobRecord {
  const { id, run, created, position } = entry
  const { started, outcome, delivery } = note
  const status = statusOf(entry, note)
  return {
    id,
    run,
    status,
    create_time: time(created),
    update_time: time(outcome?.at ?? started ?? created),
    ...(started !== undefined && { start_time: time(started) }),
    ...(outcome && { finish_time: time(outcome.at) }),
    ...(status === 'pending' && position !== undefined && { queue_position: position }),
    ...(delivery.length > 0 && { delivery: deliveryRecords(delivery) }),
  }
}

function statusOf({ stage, cancelled }: QueueEntry, { outcome }: LifeNote): JobStatus {
  if (outcome?.failure) return outcome.failure.code === 'cancelled' ? 'cancelled' : 'failed'
  if (outcome) return 'succeeded'
  if (cancelled) return 'cancelled'
  return stage === 'held' ? 'running' : 'pending'
}

/** Undefined when there is none, or its files are neither here nor at a place that has a URL. */
async function answerOf({ executed, urls, outcome }: LifeNote): Promise<JobAnswer | undefined> {
  if (!executed || !outcome || outcome.failure) return undefined
  return urls || (await areThere(executed)) ? { ...executed, urls } : undefined
}
