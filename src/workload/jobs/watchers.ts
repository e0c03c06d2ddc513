import type { WorkloadError } from '../base/errors.ts'
import type { NodeEvent } from '../engine/protocol.ts'
import type { Job } from './job.ts'
import type { ValidPrompt } from './ports.ts'

/** One job, the same object in all calls about it. */
export type WatchedJob = Pick<Job, 'id' | 'number' | 'submission' | 'request' | 'created' | 'history'>

/** Is told what happens to jobs, from the moment their prompts are found valid. Must not throw. */
export interface JobWatcher {
  /** It waits for an engine. */
  queued(job: WatchedJob, valid: ValidPrompt): void
  /** An engine has taken it: twice if it is tried again. */
  started(job: WatchedJob): void
  event(job: WatchedJob, event: NodeEvent): void
  /** It has ended, with `error` unless it succeeded. Jobs that were never queued end too. */
  ended(job: WatchedJob, error: WorkloadError | undefined): void
  /** It can be asked for no more, and its files are gone. */
  forgotten(job: WatchedJob): void
}

/** For jobs that are nobody's business. */
export const nobody: JobWatcher = {
  queued: () => undefined,
  started: () => undefined,
  event: () => undefined,
  ended: () => undefined,
  forgotten: () => undefined,
}

/** One watcher for all in `watchers`, which may grow. */
export const allOf = (watchers: ReadonlySet<JobWatcher>): JobWatcher => ({
  queued(job, valid) {
    for (const watcher of watchers) watcher.queued(job, valid)
  },
  started(job) {
    for (const watcher of watchers) watcher.started(job)
  },
  event(job, event) {
    for (const watcher of watchers) watcher.event(job, event)
  },
  ended(job, error) {
    for (const watcher of watchers) watcher.ended(job, error)
  },
  forgotten(job) {
    for (const watcher of watchers) watcher.forgotten(job)
  },
})
