import type { Prompt } from '../../src/contracts/prompt.ts'
import { WorkloadError } from '../../src/workload/base/errors.ts'
import type { Engines } from '../../src/workload/engine/dispatcher.ts'
import { createJobHistory } from '../../src/workload/jobs/job-history.ts'
import type { JobWatcher, WatchedJob } from '../../src/workload/jobs/watchers.ts'
import { jobOf } from './engine.ts'

/** A job as watchers know it. */
export const watchedJob = (prompt: Prompt, id = 'job'): WatchedJob => ({
  id,
  number: 1,
  submission: undefined,
  request: { prompt },
  created: Date.now(),
  history: createJobHistory(id, prompt, Date.now),
})

/** Runs a prompt that ends at the nodes that save on real engines, and tells `watcher` what jobs would tell of it. */
export async function watchedRun(
  engines: Engines,
  watcher: JobWatcher,
  prompt: Prompt,
  { id = 'job', signal = new AbortController().signal }: { readonly id?: string; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const job = watchedJob(prompt, id)
  const outputs = Object.keys(prompt).filter((name) => prompt[name]!.class_type === 'TestSave')
  const engineJob = { ...(await jobOf(prompt, id)), outputs }
  watcher.queued(job, { prompt, outputs, nodeErrors: {} })
  const end = await engines
    .run(engineJob, {
      signal,
      onStarted: () => watcher.started(job),
      onEvent: (event) => watcher.event(job, event),
    })
    .then(
      () => undefined,
      (error: unknown) => error,
    )
  watcher.ended(job, end === undefined || end instanceof WorkloadError ? end : new WorkloadError('internal', 'bug'))
}
