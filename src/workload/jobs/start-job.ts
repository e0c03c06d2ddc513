import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import { WorkloadError } from '../base/errors.ts'
import { asReadable } from '../base/problem.ts'
import type { Admission } from './admission.ts'
import { bodyKeyOf } from './body-key.ts'
import type { Durability, Job, Submission } from './job.ts'
import type { JobBook } from './job-book.ts'
import { createJobHistory } from './job-history.ts'
import type { ParsedBody } from './prompt-body.ts'
import { inputsOf, type Prepared, type RunServices, runPrompt } from './run-prompt.ts'
import { createStopwatch } from './stopwatch.ts'
import { toldPrompt } from './told-prompt.ts'
import { uploadFiles } from './upload-files.ts'
import type { JobWatcher } from './watchers.ts'

/** How a job is to be done, where it differs from one whose client waits. */
export interface StartOptions {
  readonly requestId: string
  readonly watcher: JobWatcher
  /** It need not ask whether there is room. */
  readonly byRight?: boolean
  /** When its first client has its answer. */
  readonly delivered?: Promise<void>
  readonly submission?: Submission
  /** What is known of a prompt that was accepted before, perhaps by another server. */
  readonly accepted?: {
    readonly id: string
    readonly run: number
    readonly folder: string
    /** Epoch milliseconds. */
    readonly created: number
    readonly delivery: Job['delivery']
    readonly durability: Durability
  }
}

/** Takes jobs in and sets them going. Throws what `Admission.enter` throws. */
export type StartJob = (parsed: ParsedBody, options: StartOptions) => Job

export interface StartServices extends RunServices {
  readonly log: Log
  /** The folder that holds a folder a run. */
  readonly spool: string
  /** Epoch milliseconds. */
  now(): number
}

export function createStartJob(services: StartServices, admission: Admission, book: JobBook): StartJob {
  const { engines, log, spool, now } = services
  let count = 0

  const settle = async (job: Job, { requestId, delivered }: StartOptions, idle: Promise<void>): Promise<void> => {
    const { id, stopwatch, admitted, history, watcher } = job
    const tell = (outcome: Readonly<Record<string, unknown>>) =>
      log.info({ request: requestId, id, ...outcome, ...stopwatch.summary() }, 'prompt')
    try {
      const answer = await job.answer
      tell({ status: 'succeeded', images: answer.files.length })
      job.outcome = { at: now(), answer }
      history.end('complete', { outputs: answer.files.map((_, i) => i) })
      watcher.ended(job, undefined)
    } catch (thrown) {
      const error = asReadable(thrown)
      // A client that waits is told by the problem handler, which logs it.
      if (error.code === 'internal' && (job.submission || job.durability))
        log.error({ request: requestId, id, err: thrown }, 'internal error')
      const handedOn = isHandedOn(job, error)
      tell({ status: handedOn ? 'handed on' : 'failed', code: error.code })
      await idle
      job.outcome = { at: now(), error }
      if (handedOn) history.end('interrupted', {})
      else history.end('failed', { code: error.code, error: error.message })
      if (handedOn) watcher.forgotten(job)
      else watcher.ended(job, error)
    }
    await delivered
    admitted.leave()
    await forgetInputs(job, log)
    book.ended(job)
  }

  return (parsed, options) => {
    const { submission, accepted, watcher, byRight = false } = options
    const { request, raw, upload } = parsed
    if (!byRight && !engines.healthy)
      throw new WorkloadError('not-ready', 'no engine process stays up', { retryAfter: 30 })
    const id = accepted?.id ?? request.id ?? randomUUID()
    const stop = new AbortController()
    const created = accepted?.created ?? now()
    const prepared: Prepared = {
      id,
      run: accepted?.run ?? (book.find(id)?.run ?? 0) + 1,
      named: request.id !== undefined,
      bodyKey: bodyKeyOf(raw),
      request,
      number: submission?.number ?? (submission?.front ? 0 - count++ : count++),
      submission,
      durability: accepted?.durability,
      raw,
      upload,
      folder: accepted?.folder ?? join(spool, randomUUID()),
      stop,
      admitted: admission.enter(id, (reason) => stop.abort(reason), byRight),
      stopwatch: createStopwatch(now, created),
      history: createJobHistory(id, toldPrompt(request.prompt), now),
      watcher,
      shown: [],
      created,
      outcome: undefined,
      executed: accepted?.durability.executed,
      delivery: accepted?.delivery ?? [],
      emptied: false,
      waiting: 0,
    }
    const { idle, ...promises } = work(prepared, services)
    const job: Job = Object.assign(prepared, promises)
    book.add(job)
    void settle(job, options, idle)
    return job
  }
}

const ended: Durability = Object.freeze({ executed: undefined, keep: () => Promise.reject(new Error('it has ended')) })

/** Pictures may be megabytes on the disk and in memory, and nobody asks for those of a job that has ended. */
async function forgetInputs(job: Job, log: Log): Promise<void> {
  const { credentials: _, ...request } = job.request
  job.request = { ...request, prompt: toldPrompt(request.prompt) }
  job.raw = {}
  if (job.durability) job.durability = ended
  await rm(inputsOf(job), { recursive: true, force: true }).catch((error: unknown) =>
    log.warn({ id: job.id, err: error }, 'the inputs of a job could not be removed'),
  )
}

/** Whether another server, or this one another time, goes on with a job. */
export const isHandedOn = ({ durability }: Pick<Job, 'durability'>, { code }: WorkloadError): boolean =>
  durability !== undefined && code === 'shutting-down'

/** Runs a job, or takes up its files where they are, and uploads them. */
function work(job: Prepared, services: RunServices) {
  const { durability } = job
  if (durability?.executed) {
    job.shown.push(...durability.executed.files.map((file) => ({ ...file, retention: 'output' as const })))
    const answer = uploadFiles(job, durability.executed)
    return { answer, valid: undefined, idle: Promise.resolve() }
  }
  const { valid, executed, idle } = runPrompt(job, services)
  const finish = async () => {
    const made = await executed
    job.executed = made
    await durability?.keep(made)
    return uploadFiles(job, made)
  }
  return { answer: finish(), valid, idle }
}
