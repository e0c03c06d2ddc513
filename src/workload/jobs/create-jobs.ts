import type { Log } from '../../common/log.ts'
import { unlessAborted } from '../base/abort.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Webhooks } from '../delivery/parcel.ts'
import type { Uploads } from '../delivery/uploads.ts'
import type { ShownFile } from '../engine/protocol.ts'
import type { Outbound } from '../media/outbound.ts'
import type { JobQueue } from '../queue/job-queue.ts'
import { createAdmission, reasonsOf } from './admission.ts'
import { bodyKeyOf } from './body-key.ts'
import { createDurableJobs } from './durable-jobs.ts'
import { followEntry } from './follow-entry.ts'
import type { Job, JobAnswer } from './job.ts'
import { createJobBook } from './job-book.ts'
import { recordOf, viewOfJob } from './job-record.ts'
import type { Jobs } from './jobs.ts'
import { type ParsedBody, parseBody } from './prompt-body.ts'
import type { RunServices } from './run-prompt.ts'
import type { Seal } from './seal.ts'
import { createSpool } from './spool.ts'
import { createStartJob } from './start-job.ts'
import { allOf, type JobWatcher, nobody } from './watchers.ts'

export interface JobServices extends RunServices {
  readonly uploads: Uploads
  readonly webhooks: Webhooks
  readonly queue: JobQueue
  readonly outbound: Pick<Outbound, 'check'>
  readonly seal: Seal
  readonly log: Log
  /** The folder that holds a folder a run. */
  readonly spool: string
  /** Pending and running prompts; 0: no limit. */
  readonly maxQueueDepth: number
  /** Asynchronous prompts that are before or in the engines at a time. */
  readonly places: number
  /** How often a prompt is run whose server was lost each time. */
  readonly promptAttempts: number
  /** How long ended jobs and their files are kept, in milliseconds, and how many bytes of them. */
  readonly jobRetentionMs: number
  readonly jobRetentionBytes: number
  /** Epoch milliseconds. */
  now(): number
}

/** The life of a prompt: admit, run, deliver, keep for a while, tidy up. */
export function createJobs(services: JobServices): Jobs {
  const { engines, queue, log, now } = services
  const admission = createAdmission(services.maxQueueDepth, now, () => durable.waiting)
  const spool = createSpool(services.spool, log, now)
  const book = createJobBook({
    keepMs: services.jobRetentionMs,
    keepBytes: services.jobRetentionBytes,
    now,
    async discard(job) {
      job.watcher.forgotten(job)
      // What the next process may go on with, or show, stays: it sweeps.
      if (!(job.durability && admission.stage === 'draining')) await spool.remove(job.folder)
    },
  })
  const watchers = new Set<JobWatcher>()
  const watcher = allOf(watchers)
  const startJob = createStartJob(services, admission, book)
  const isReady = () => engines.ready
  const durable = createDurableJobs(
    { ...services, checks: services, startJob, book, watcher, spool, isReady },
    admission,
  )

  const notFound = (id: string) =>
    new WorkloadError('job-not-found', `there is no job ${id}; ended ones are kept for a while only`)
  /** The job that `parsed` asks for if it is there already. Throws `id-conflict` when its id means another. */
  const standing = async ({ request, raw }: ParsedBody): Promise<Job | undefined> => {
    if (request.id === undefined) return undefined
    const conflict = (whose: string) =>
      new WorkloadError('id-conflict', `the id ${request.id} belongs to ${whose}`, { location: 'id' })
    const job = book.find(request.id)
    if (!job && (await queue.find(request.id)))
      throw conflict('a prompt whose result is told later: see GET /jobs/{id}')
    if (!job) return undefined
    if (job.bodyKey !== bodyKeyOf(raw)) throw conflict('another prompt')
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
  const holding = async <T>(job: Job, work: () => Promise<T>): Promise<T> => {
    const release = book.hold(job)
    try {
      return await work()
    } finally {
      release()
    }
  }
  const viewOfLocal = (job: Job) => viewOfJob(job, book.jobs.slice(0, book.jobs.indexOf(job)))
  const view: Jobs['view'] = async (id) => {
    const job = book.find(id)
    const found = job ? viewOfLocal(job) : await durable.view(id)
    if (found) return found
    throw notFound(id)
  }

  return {
    async run(body, { signal, requestId }, deliver) {
      const parsed = await parseBody(body, services)
      const former = await standing(parsed)
      let tellDelivered!: () => void
      const delivered = new Promise<void>((resolve) => {
        tellDelivered = resolve
      })
      const job = former ?? startJob(parsed, { requestId, watcher, delivered })
      try {
        return await holding(job, async () => {
          const replayed = job.outcome !== undefined
          return deliver(await waitFor(job, signal), replayed)
        })
      } finally {
        tellDelivered()
      }
    },
    async accept(body, requestId) {
      const isTaken = (id: string) => {
        const job = book.find(id)
        return job !== undefined && !job.durability && !job.outcome?.error
      }
      const accepted = await durable.accept(body, requestId, isTaken)
      const job = book.find(accepted.id)
      // It is to run again: what is known of it now is what the queue knows, which also removes what its run has left.
      if (job?.outcome?.error) job.durability ? book.letGo(job) : book.forget(job)
      return accepted
    },
    async submit(body, submission, requestId) {
      const parsed = await parseBody(body, services, { targets: submission.targets })
      const job = (await standing(parsed)) ?? startJob(parsed, { requestId, watcher, submission })
      const valid = await job.valid
      return { id: job.id, number: job.number, nodeErrors: valid?.nodeErrors ?? {} }
    },
    watch: (watcher) => void watchers.add(watcher),
    async warmUp(body, signal) {
      const job = startJob(await parseBody(body, services), { requestId: 'warm-up', watcher: nobody, byRight: true })
      await waitFor(job, signal)
    },
    view,
    async list() {
      const own = book.jobs.map((job, i, jobs) => recordOf(job, jobs.slice(0, i)))
      const others = (await durable.records()).filter(({ id }) => !book.find(id))
      return [...own, ...others].sort((a, b) => (a.create_time < b.create_time ? -1 : 1))
    },
    async read(id, work) {
      const job = book.find(id)
      return job ? holding(job, () => work(viewOfLocal(job))) : work(await view(id))
    },
    async lendShown(filename, retention, work) {
      const isIt = (file: ShownFile) => file.filename === filename && file.retention === retention
      const job = book.jobs.findLast(({ shown }) => shown.some(isIt))
      return job && holding(job, () => work(job.shown.find(isIt)!))
    },
    free: engines.free,
    async cancel(id) {
      const job = book.find(id)
      if (job?.outcome) return false
      if (job) job.stop.abort(new WorkloadError('cancelled', 'the prompt was cancelled'))
      else if (!(await durable.cancel(id))) return view(id).then(() => false)
      return true
    },
    async redeliver(id) {
      if (!(await durable.redeliver(id))) throw notFound(id)
    },
    follow(id, after, signal, previews) {
      const job = book.find(id)
      return job
        ? job.history.follow(after, signal, previews)
        : followEntry(id, after, signal, { book, view, previews })
    },
    get counts() {
      const { pending, running, delivering } = admission.counts
      return { pending: pending + durable.waiting, running, delivering: delivering + durable.delivering }
    },
    get deliveries() {
      return book.jobs.flatMap(({ delivery }) => delivery)
    },
    get devices() {
      return engines.devices
    },
    open() {
      admission.open()
      durable.open()
    },
    async drain(graceMs) {
      await Promise.all([admission.drain(graceMs), durable.rest()])
      await book.close()
      await queue.close()
    },
    get healthy() {
      return admission.stage !== 'starting' && engines.healthy
    },
    get reasons() {
      return [...reasonsOf(admission, engines.ready), ...(queue.reachable ? [] : ['the queue cannot be reached'])]
    },
  }
}
