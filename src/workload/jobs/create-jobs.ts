import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobRecord } from '../../contracts/job.ts'
import type { NodeErrors } from '../../contracts/problem.ts'
import { unlessAborted } from '../base/abort.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Uploads } from '../delivery/uploads.ts'
import type { Freeing, ShownFile } from '../engine/protocol.ts'
import { createAdmission, reasonsOf } from './admission.ts'
import { bodyKeyOf } from './body-key.ts'
import type { Job, JobAnswer, Submission } from './job.ts'
import { createJobBook } from './job-book.ts'
import { createJobHistory, type JobEvent } from './job-history.ts'
import { recordOf } from './job-record.ts'
import { type ParsedBody, parseBody } from './prompt-body.ts'
import { type Prepared, type RunServices, runPrompt } from './run-prompt.ts'
import { createStopwatch } from './stopwatch.ts'
import { allOf, type JobWatcher, nobody } from './watchers.ts'

/** Who asks, and how to tell that they have gone. */
export interface Caller {
  readonly signal: AbortSignal
  readonly requestId: string
}

/** What is told of a job. */
export interface JobView {
  readonly record: JobRecord
  /** Of a job that succeeded. */
  readonly answer: JobAnswer | undefined
  /** Of a job that failed or was cancelled. */
  readonly error: WorkloadError | undefined
}

/** A prompt that was taken in. */
export interface Submitted {
  readonly id: string
  readonly number: number
  /** What is wrong with the outputs that will not run. */
  readonly nodeErrors: NodeErrors
}

export interface Jobs {
  /**
   * Runs the prompt in the body of a request and hands its files to `deliver`, with whether the answer was there
   * already. The same body under the same id joins the job that is there, or gets its answer again. When `caller.signal`
   * aborts, a job that nobody else waits for and whose id its client does not know is cancelled.
   */
  run<T>(body: unknown, caller: Caller, deliver: (answer: JobAnswer, replayed: boolean) => Promise<T>): Promise<T>
  /** Takes a prompt in and resolves when it is found valid; it goes on whether anybody waits for it or not. */
  submit(body: unknown, submission: Submission, requestId: string): Promise<Submitted>
  /** From now on tells `watcher` of all jobs but the warm-up. */
  watch(watcher: JobWatcher): void
  /** Runs a prompt before anybody is let in. */
  warmUp(body: unknown, signal: AbortSignal): Promise<void>
  /** What is known of a job. Throws `job-not-found`. */
  view(id: string): JobView
  /** All jobs that are known, in the order in which they came. */
  list(): readonly JobRecord[]
  /** Lends the answer of a job that succeeded, with its files. Throws `job-not-found`. */
  read<T>(id: string, work: (answer: JobAnswer) => Promise<T>): Promise<T>
  /** Lends a file that a job has shown, by the name its client was told; undefined when there is none. */
  lendShown<T>(
    filename: string,
    retention: ShownFile['retention'],
    work: (file: ShownFile) => Promise<T>,
  ): Promise<T | undefined>
  /** Gives back memory that nobody uses now. */
  free(what: Freeing): void
  /** Stops a job that has not ended; false when it has. Throws `job-not-found`. */
  cancel(id: string): boolean
  /** What happens to a job from event number `after` on. Throws `job-not-found`. */
  follow(id: string, after: number, signal: AbortSignal): AsyncGenerator<JobEvent>
  /** What the engines run on, `cpu` or `cuda` each. */
  readonly devices: readonly string[]
  /** Lets prompts in. */
  open(): void
  /** Lets none in any more and resolves when all have ended, after `graceMs` by force. */
  drain(graceMs: number): Promise<void>
  /** True once the warm-up is done, while engines stay up. */
  readonly healthy: boolean
  /** Why prompts should go elsewhere at the moment; empty when there is no reason. */
  readonly reasons: readonly string[]
}

export interface JobServices extends RunServices {
  readonly uploads: Uploads
  readonly log: Log
  /** The folder that holds a folder a run. */
  readonly spool: string
  /** Pending and running prompts; 0: no limit. */
  readonly maxQueueDepth: number
  /** How long ended jobs and their files are kept, in milliseconds, and how many bytes of them. */
  readonly jobRetentionMs: number
  readonly jobRetentionBytes: number
  /** Epoch milliseconds. */
  now(): number
}

/** The life of a prompt: admit, run, deliver, keep for a while, tidy up. */
export function createJobs(services: JobServices): Jobs {
  const { engines, log, spool, maxQueueDepth, now } = services
  const admission = createAdmission(maxQueueDepth, now)
  const book = createJobBook({
    keepMs: services.jobRetentionMs,
    keepBytes: services.jobRetentionBytes,
    now,
    discard(job) {
      job.watcher.forgotten(job)
      return tidy(job, log)
    },
  })
  const watchers = new Set<JobWatcher>()
  const watcher = allOf(watchers)
  let count = 0

  /** Takes a job in and sets it going. `delivered` is when its first client has its answer. */
  const begin = (
    parsed: ParsedBody,
    requestId: string,
    byRight: boolean,
    delivered: Promise<void>,
    submission?: Submission,
  ): Job => {
    if (!byRight && !engines.healthy)
      throw new WorkloadError('not-ready', 'no engine process stays up', { retryAfter: 30 })
    const { request, raw, upload } = parsed
    const id = request.id ?? randomUUID()
    const stop = new AbortController()
    const prepared: Prepared = {
      id,
      run: (book.find(id)?.run ?? 0) + 1,
      named: request.id !== undefined,
      bodyKey: bodyKeyOf(raw),
      request,
      number: submission?.number ?? (submission?.front ? 0 - count++ : count++),
      submission,
      raw,
      upload,
      folder: join(spool, randomUUID()),
      stop,
      admitted: admission.enter(id, (reason) => stop.abort(reason), byRight),
      stopwatch: createStopwatch(now),
      history: createJobHistory(id, request.prompt, now),
      watcher: byRight ? nobody : watcher,
      shown: [],
      created: now(),
      outcome: undefined,
      waiting: 0,
    }
    const { valid, answer, idle } = runPrompt(prepared, services)
    const job: Job = Object.assign(prepared, { answer, valid })
    book.add(job)
    void settle(job, requestId, idle, delivered)
    return job
  }

  const settle = async (job: Job, requestId: string, idle: Promise<void>, delivered: Promise<void>): Promise<void> => {
    const { id, stopwatch, admitted, history } = job
    const tell = (outcome: Readonly<Record<string, unknown>>) =>
      log.info({ request: requestId, id, ...outcome, ...stopwatch.summary() }, 'prompt')
    try {
      const answer = await job.answer
      tell({ status: 'succeeded', images: answer.files.length })
      job.outcome = { at: now(), answer }
      history.end('complete', { outputs: answer.files.map((_, i) => i) })
      job.watcher.ended(job, undefined)
    } catch (thrown) {
      const error = thrown instanceof WorkloadError ? thrown : new WorkloadError('internal', 'internal error')
      tell({ status: 'failed', code: error.code })
      await idle
      job.outcome = { at: now(), error }
      history.end('failed', { code: error.code, error: error.message })
      job.watcher.ended(job, error)
    }
    await delivered
    admitted.leave()
    book.ended(job)
  }

  const known = (id: string): Job => {
    const job = book.find(id)
    if (job) return job
    throw new WorkloadError('job-not-found', `there is no job ${id}; ended ones are kept for a while only`)
  }
  /** The job that `parsed` asks for if it is there already. Throws `id-conflict` when its id means another. */
  const standing = ({ request, raw }: ParsedBody): Job | undefined => {
    const job = request.id === undefined ? undefined : book.find(request.id)
    if (!job) return undefined
    if (job.bodyKey !== bodyKeyOf(raw))
      throw new WorkloadError('id-conflict', `the id ${job.id} belongs to another prompt`, { location: 'id' })
    return job.outcome?.error ? undefined : job
  }
  const waitFor = async (job: Job, signal: AbortSignal): Promise<JobAnswer> => {
    job.waiting += 1
    try {
      return await unlessAborted(job.answer, signal)
    } finally {
      job.waiting -= 1
      if (signal.aborted && job.waiting === 0 && !job.named) job.stop.abort(signal.reason)
    }
  }

  return {
    async run(body, { signal, requestId }, deliver) {
      const parsed = await parseBody(body, services)
      const former = standing(parsed)
      let tellDelivered!: () => void
      const delivered = new Promise<void>((resolve) => {
        tellDelivered = resolve
      })
      const job = former ?? begin(parsed, requestId, false, delivered)
      const release = book.hold(job)
      try {
        const replayed = job.outcome !== undefined
        return await deliver(await waitFor(job, signal), replayed)
      } finally {
        release()
        tellDelivered()
      }
    },
    async submit(body, submission, requestId) {
      const parsed = await parseBody(body, services, submission.targets)
      const job = standing(parsed) ?? begin(parsed, requestId, false, Promise.resolve(), submission)
      const { nodeErrors } = await job.valid
      return { id: job.id, number: job.number, nodeErrors }
    },
    watch: (watcher) => void watchers.add(watcher),
    async warmUp(body, signal) {
      const job = begin(await parseBody(body, services), 'warm-up', true, Promise.resolve())
      await waitFor(job, signal)
    },
    view(id) {
      const job = known(id)
      const { outcome } = job
      const { jobs } = book
      return { record: recordOf(job, jobs.slice(0, jobs.indexOf(job))), answer: outcome?.answer, error: outcome?.error }
    },
    list: () => book.jobs.map((job, i, jobs) => recordOf(job, jobs.slice(0, i))),
    async read(id, work) {
      const job = known(id)
      if (!job.outcome?.answer) throw new WorkloadError('job-not-found', `the job ${id} has no outputs`)
      const release = book.hold(job)
      try {
        return await work(job.outcome.answer)
      } finally {
        release()
      }
    },
    async lendShown(filename, retention, work) {
      const isIt = (file: ShownFile) => file.filename === filename && file.retention === retention
      const job = book.jobs.findLast(({ shown }) => shown.some(isIt))
      if (!job) return undefined
      const release = book.hold(job)
      try {
        return await work(job.shown.find(isIt)!)
      } finally {
        release()
      }
    },
    free: engines.free,
    cancel(id) {
      const job = known(id)
      if (job.outcome) return false
      job.stop.abort(new WorkloadError('cancelled', 'the prompt was cancelled'))
      return true
    },
    follow: (id, after, signal) => known(id).history.follow(after, signal),
    get devices() {
      return engines.devices
    },
    open: admission.open,
    async drain(graceMs) {
      await admission.drain(graceMs)
      await book.close()
    },
    get healthy() {
      return admission.stage !== 'starting' && engines.healthy
    },
    get reasons() {
      return reasonsOf(admission, engines.ready)
    },
  }
}

/** Clean-up never fails a job. */
async function tidy({ folder, id }: Job, log: Log): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    log.warn({ id, err: error }, 'a job folder could not be removed')
  }
}
