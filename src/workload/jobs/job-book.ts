import { MOST_ENDED } from '../queue/memory.ts'
import type { Job } from './job.ts'

/** Timers take no longer delays. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface JobBookOptions {
  /** How long an ended job is kept, in milliseconds. */
  readonly keepMs: number
  /** How many bytes the files of ended jobs may take; the oldest go first. */
  readonly keepBytes: number
  /** Epoch milliseconds. */
  now(): number
  /** Removes what an ended job has left. */
  discard(job: Job): Promise<void>
}

/** The jobs that can be asked for: those that live, and those that ended not long ago. */
export interface JobBook {
  find(id: string): Job | undefined
  /** In the order in which they came. */
  readonly jobs: readonly Job[]
  /** A job of the same id is forgotten. */
  add(job: Job): void
  /** Forgets a job and what it has left. */
  forget(job: Job): void
  /** To be called when a job has its outcome: from now on it is kept for a while. */
  ended(job: Job): void
  /** Forgets a job that another server goes on with, or this one anew: what it has left stays. */
  letGo(job: Job): void
  /** Keeps the files of a job until the result is called. */
  hold(job: Job): () => void
  /** Forgets every ended job, and resolves when their files are gone. */
  close(): Promise<void>
}

export function createJobBook({ keepMs, keepBytes, now, discard }: JobBookOptions): JobBook {
  const jobs = new Map<string, Job>()
  const holds = new Map<Job, number>()
  /** Forgotten jobs whose files somebody still reads. */
  const leaving = new Set<Job>()
  const discarding = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  const remove = (job: Job): void => {
    if ((holds.get(job) ?? 0) > 0) return void leaving.add(job)
    leaving.delete(job)
    const gone = discard(job).finally(() => discarding.delete(gone))
    discarding.add(gone)
  }
  const forget = (job: Job): void => {
    if (jobs.get(job.id) === job) jobs.delete(job.id)
    remove(job)
  }
  const endedJobs = () => [...jobs.values()].filter((job) => job.outcome).sort((a, b) => a.outcome!.at - b.outcome!.at)
  const isOver = ({ outcome }: Job): boolean => outcome !== undefined && outcome.at + keepMs <= now()
  const sweep = (): void => {
    clearTimeout(timer)
    const left = endedJobs()
    let bytes = left.reduce((sum, job) => sum + sizeOf(job), 0)
    for (let [job] = left; job && (isOver(job) || bytes > keepBytes || left.length > MOST_ENDED); [job] = left) {
      left.shift()
      bytes -= sizeOf(job)
      forget(job)
    }
    const [oldest] = left
    if (!oldest) return
    const delay = Math.min(oldest.outcome!.at + keepMs - now(), LONGEST_TIMER_MS)
    timer = setTimeout(sweep, Math.max(delay, 1)).unref()
  }

  return {
    find(id) {
      const job = jobs.get(id)
      return job && !isOver(job) ? job : undefined
    },
    get jobs() {
      return [...jobs.values()].filter((job) => !isOver(job))
    },
    add(job) {
      const former = jobs.get(job.id)
      if (former) forget(former)
      jobs.set(job.id, job)
    },
    forget,
    ended: sweep,
    letGo(job) {
      if (jobs.get(job.id) === job) jobs.delete(job.id)
    },
    hold(job) {
      holds.set(job, (holds.get(job) ?? 0) + 1)
      return () => {
        const left = holds.get(job)! - 1
        if (left > 0) return void holds.set(job, left)
        holds.delete(job)
        if (leaving.has(job)) remove(job)
      }
    },
    async close() {
      clearTimeout(timer)
      for (const job of endedJobs()) forget(job)
      await Promise.all(discarding)
    },
  }
}

const sizeOf = ({ shown }: Job): number => shown.reduce((sum, { bytes }) => sum + bytes, 0)
