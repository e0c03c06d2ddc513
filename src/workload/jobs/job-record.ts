import type { JobRecord, JobStatus } from '../../contracts/job.ts'
import { deliveryRecords } from './delivery-record.ts'
import type { Job, JobView } from './job.ts'

const time = (epoch: number): string => new Date(epoch).toISOString()

/** Where a job is in its life. */
export function statusOf({ outcome, admitted }: Job): JobStatus {
  if (outcome?.answer) return 'succeeded'
  if (outcome?.error) return outcome.error.code === 'cancelled' ? 'cancelled' : 'failed'
  return admitted.stage === 'preparing' || admitted.stage === 'waiting' ? 'pending' : 'running'
}

/** What is told of a job; `ahead` are the jobs that came before it. */
export function viewOfJob(job: Job, ahead: readonly Job[]): JobView {
  const { outcome, executed, emptied } = job
  const answer = outcome?.answer
  return {
    record: recordOf(job, ahead),
    answer: emptied && !answer?.urls ? undefined : answer,
    head: answer?.head,
    error: outcome?.error,
    files: emptied || !outcome ? [] : (executed?.files ?? []),
  }
}

/** What is told of a job, without its answer; `ahead` are the jobs that came before it. */
export function recordOf(job: Job, ahead: readonly Job[]): JobRecord {
  const { id, run, created, outcome, history, delivery } = job
  const status = statusOf(job)
  const { started, progress } = history
  return {
    id,
    run,
    status,
    create_time: time(created),
    update_time: time(Math.max(history.updated, outcome?.at ?? 0)),
    ...(started !== undefined && { start_time: time(started) }),
    ...(outcome && { finish_time: time(outcome.at) }),
    ...(status === 'pending' && { queue_position: ahead.filter((other) => statusOf(other) === 'pending').length }),
    ...(progress && { progress }),
    ...(delivery.length > 0 && { delivery: deliveryRecords(delivery) }),
  }
}
