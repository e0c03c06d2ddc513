import { randomUUID } from 'node:crypto'
import type { BullQueue } from './bull-parts.ts'
import type { JobQueue, QueueEntry, QueueRequest } from './job-queue.ts'
import { MOST_ENDED } from './memory.ts'
import { type EntryJob, entryOf, jobIdOf, type StoredProgress, toJobPriority } from './stored-entry.ts'

/** In the order in which BullMQ hands them out; on Redis those taken over wait in the first. */
const waitingSets = ['wait', 'prioritized'] as const

/** The line that says somebody wants a prompt stopped. BullMQ appends it, so it never meets a holder's note. */
const STOP = 'stop'

/** What can be done with entries without holding them. */
export interface EntryStore extends Pick<JobQueue, 'find' | 'list' | 'cancel' | 'revive' | 'remove'> {
  submit(request: QueueRequest): Promise<{ readonly entry: QueueEntry; readonly isNew: boolean }>
  countWaiting(): Promise<number>
  /** Whether somebody wants a held entry stopped. */
  isUnwanted(id: string): Promise<boolean>
  /** Forgets entries that ended longer ago than they are kept. */
  tidy(): Promise<void>
}

export function createEntryStore(queue: BullQueue, retentionMs: number): EntryStore {
  const keep = { age: Math.ceil(retentionMs / 1000), count: MOST_ENDED }
  const jobOf = (id: string): Promise<EntryJob | undefined> => queue.getJob(jobIdOf(id))
  const waitingIds = (): Promise<string[]> => queue.getRanges([...waitingSets], 0, -1, true)

  async function entryIn(job: EntryJob): Promise<QueueEntry> {
    if (job.finishedOn !== undefined) return entryOf(job, 'ended')
    const position = (await waitingIds()).indexOf(jobIdOf(job.data.id))
    return position < 0 ? entryOf(job, 'held') : entryOf(job, 'waiting', position)
  }

  async function jobsOf(ids: readonly string[]): Promise<readonly (EntryJob | undefined)[]> {
    return Promise.all(ids.map((id) => queue.getJob(id)))
  }

  return {
    async submit({ priority, ...request }) {
      const options = { jobId: jobIdOf(request.id), priority: toJobPriority(priority), removeOnComplete: keep }
      const submission = randomUUID()
      await queue.add('prompt', { ...request, cancelled: false, submission }, options)
      const job = await jobOf(request.id)
      if (!job) throw new Error('the entry is gone right after it was added')
      return { entry: await entryIn(job), isNew: job.data.submission === submission }
    },
    async find(id) {
      const job = await jobOf(id)
      return job && entryIn(job)
    },
    async list(mostEnded) {
      const [waiting, held, ended] = await Promise.all([
        waitingIds(),
        queue.getRanges(['active'], 0, -1, true),
        mostEnded > 0 ? queue.getRanges(['completed'], 0, mostEnded - 1, false) : [],
      ])
      const entries = new Map<string, QueueEntry>()
      for (const [stage, ids] of [['ended', ended] as const, ['waiting', waiting] as const, ['held', held] as const])
        for (const [position, job] of (await jobsOf(ids)).entries())
          if (job) entries.set(job.data.id, entryOf(job, stage, stage === 'waiting' ? position : undefined))
      return [...entries.values()].sort((one, other) => one.created - other.created)
    },
    async cancel(id) {
      const job = await jobOf(id)
      if (!job || job.finishedOn !== undefined) return false
      await job.updateData({ ...job.data, cancelled: true })
      await job.log(STOP)
      return true
    },
    async isUnwanted(id) {
      return (await queue.getJobLogs(jobIdOf(id), 0, 0)).count > 0
    },
    async revive(id, note) {
      const job = await jobOf(id)
      if (!job || job.finishedOn === undefined) return false
      if (job.data.cancelled) await Promise.all([job.updateData({ ...job.data, cancelled: false }), job.clearLogs()])
      await job.updateProgress({ note, givenBack: 0 } satisfies StoredProgress)
      await job.retry('completed', { resetAttemptsMade: true, resetAttemptsStarted: true })
      return true
    },
    async remove(id) {
      await queue.remove(jobIdOf(id))
    },
    async countWaiting() {
      const counts = await queue.getJobCounts(...waitingSets)
      return waitingSets.reduce((sum, set) => sum + (counts[set] ?? 0), 0)
    },
    async tidy() {
      await queue.clean(retentionMs, MOST_ENDED, 'completed')
    },
  }
}
