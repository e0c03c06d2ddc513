import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Prompt, PromptAnswer, PromptRequest } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Upload, Uploads } from '../delivery/uploads.ts'
import type { Engines } from '../engine/dispatcher.ts'
import type { EngineFile, EngineJob, EngineResult } from '../engine/protocol.ts'
import { type Admission, type Admitted, createAdmission } from './admission.ts'
import { checkGraph } from './check-graph.ts'
import { createFaults } from './faults.ts'
import { saves, withFileNames } from './file-prefix.ts'
import type { Declarations, ValidPrompt } from './ports.ts'
import { type ParsedBody, parseBody, warningsOf } from './prompt-body.ts'
import { createStopwatch, type Stopwatch } from './stopwatch.ts'

/** What a finished prompt is answered with; the images are still files, or somewhere else by now. */
export interface JobAnswer {
  readonly head: Omit<PromptAnswer, 'images'>
  readonly files: readonly EngineFile[]
  /** Where the files were uploaded to, in their order; undefined when the answer carries them. */
  readonly urls: readonly string[] | undefined
}

/** Who asks, and how to tell that they have gone. */
export interface Caller {
  readonly signal: AbortSignal
  readonly requestId: string
}

export interface Jobs {
  /**
   * Runs the prompt in the body of a request and hands its files to `deliver`; they stay until that has ended. When
   * `caller.signal` aborts, so does the prompt.
   */
  run<T>(body: unknown, caller: Caller, deliver: (answer: JobAnswer) => Promise<T>): Promise<T>
  /** Runs a prompt before anybody is let in. */
  warmUp(body: unknown, signal: AbortSignal): Promise<void>
  /** Lets prompts in. */
  open(): void
  /** Lets none in any more and resolves when all have ended, after `graceMs` by force. */
  drain(graceMs: number): Promise<void>
  /** True once the warm-up is done, while engines stay up. */
  readonly healthy: boolean
  /** Why prompts should go elsewhere at the moment; empty when there is no reason. */
  readonly reasons: readonly string[]
}

export interface JobServices {
  readonly engines: Engines
  readonly declarations: Declarations
  readonly uploads: Uploads
  readonly log: Log
  /** Stores the pictures that stand in a prompt in base64 in `folder`, and puts their names in their place. */
  storeMedia(prompt: Prompt, folder: string): Promise<Prompt>
  /** The folder that holds a folder a run. */
  readonly spool: string
  readonly prependFilenames: boolean
  /** Pending and running prompts; 0: no limit. */
  readonly maxQueueDepth: number
  /** From the moment an engine takes it; 0: no limit. */
  readonly promptTimeoutMs: number
  /** Epoch milliseconds. */
  now(): number
}

/** One prompt on its way through the house. */
interface Job {
  readonly id: string
  readonly request: PromptRequest
  /** The body as it came. */
  readonly raw: Readonly<Record<string, unknown>>
  readonly upload: Upload | undefined
  /** The job's own folder: its name is not the client's, for the same id may come twice. */
  readonly folder: string
  readonly stop: AbortController
  readonly admitted: Admitted
  readonly stopwatch: Stopwatch
}

/** The life of a prompt: admit, take in its media, validate, execute, deliver, tidy up. */
export function createJobs(services: JobServices): Jobs {
  const { engines, log, spool, maxQueueDepth, now } = services
  const admission = createAdmission(maxQueueDepth, now)
  const cleaning = new Set<Promise<void>>()

  const admit = ({ request, raw, upload }: ParsedBody, { signal }: Pick<Caller, 'signal'>, byRight: boolean): Job => {
    if (!byRight && !engines.healthy)
      throw new WorkloadError('not-ready', 'no engine process stays up', { retryAfter: 30 })
    const id = request.id ?? randomUUID()
    const stop = new AbortController()
    const admitted = admission.enter(id, (reason) => stop.abort(reason), byRight)
    const gone = () => stop.abort(new WorkloadError('cancelled', 'the client went away'))
    if (signal.aborted) gone()
    else signal.addEventListener('abort', gone, { once: true })
    const folder = join(spool, randomUUID())
    return { id, request, raw, upload, folder, stop, admitted, stopwatch: createStopwatch(now) }
  }
  const live = async <T>(job: Job, requestId: string, deliver: (answer: JobAnswer) => Promise<T>): Promise<T> => {
    const { id, stopwatch } = job
    const tell = (outcome: Readonly<Record<string, unknown>>) =>
      log.info({ request: requestId, id, ...outcome, ...stopwatch.summary() }, 'prompt')
    let executing: Promise<unknown> = Promise.resolve()
    try {
      const valid = await prepare(job, services)
      const running = execute(job, valid, services)
      executing = running.catch(() => undefined)
      const result = await unlessAborted(running, job.stop.signal)
      job.admitted.stage = 'delivering'
      const { files } = result
      const urls = job.upload && (await stopwatch.uploading(job.upload.run(files, job.stop.signal)))
      const delivered = await deliver({ head: headOf(job, valid, result, services), files, urls })
      tell({ status: 'succeeded', images: files.length })
      return delivered
    } catch (error) {
      tell({ status: 'failed', code: error instanceof WorkloadError ? error.code : 'internal' })
      throw error
    } finally {
      // An engine may still be at it after a client has gone, so the folder waits and the place stays taken.
      void executing.then(job.admitted.leave)
      const cleaned = executing.then(() => tidy(job, log)).finally(() => cleaning.delete(cleaned))
      cleaning.add(cleaned)
    }
  }

  return {
    async run(body, caller, deliver) {
      return live(admit(await parseBody(body, services), caller, false), caller.requestId, deliver)
    },
    async warmUp(body, signal) {
      await live(admit(await parseBody(body, services), { signal }, true), 'warm-up', async () => undefined)
    },
    open: admission.open,
    async drain(graceMs) {
      await admission.drain(graceMs)
      await Promise.all(cleaning)
    },
    get healthy() {
      return admission.stage !== 'starting' && engines.healthy
    },
    get reasons() {
      return reasonsOf(admission, engines)
    },
  }
}

function reasonsOf({ stage, full }: Admission, engines: Engines): readonly string[] {
  return [
    ...(stage === 'starting' ? ['the server is still starting'] : []),
    ...(stage === 'draining' ? ['the server is shutting down'] : []),
    ...(engines.ready ? [] : ['no engine process is up']),
    ...(full ? ['the queue is full'] : []),
  ]
}

async function prepare(job: Job, services: JobServices): Promise<ValidPrompt> {
  const valid = await checkGraph(job.request.prompt, inputsOf(job), createFaults(), services)
  if (!valid.outputs.some((id) => saves(valid.prompt[id])))
    throw new WorkloadError('no-output-node', 'the prompt has no node that saves its result, such as SaveImage', {
      location: 'prompt',
      nodeErrors: valid.nodeErrors,
    })
  job.stop.signal.throwIfAborted()
  return valid
}

async function execute(job: Job, { prompt, outputs }: ValidPrompt, services: JobServices): Promise<EngineResult> {
  const { id, request, stop, stopwatch, admitted } = job
  const { engines, prependFilenames, promptTimeoutMs } = services
  const engineJob: EngineJob = {
    id,
    prompt,
    outputs,
    inputs: inputsOf(job),
    folder: join(job.folder, 'output'),
    prependId: prependFilenames,
    convert: request.convert_output,
    pngInfo: request.extra_data?.extra_pnginfo,
  }
  let timer: NodeJS.Timeout | undefined
  const expire = () =>
    stop.abort(new WorkloadError('timed-out', `the prompt ran longer than ${promptTimeoutMs / 1000} s`))
  stopwatch.queued()
  admitted.stage = 'waiting'
  try {
    return await engines.run(engineJob, {
      signal: stop.signal,
      onStarted() {
        admitted.stage = 'running'
        stopwatch.started()
        if (promptTimeoutMs > 0) timer ??= setTimeout(expire, promptTimeoutMs)
      },
      onEvent: stopwatch.note,
    })
  } finally {
    clearTimeout(timer)
  }
}

function headOf(job: Job, valid: ValidPrompt, result: EngineResult, { prependFilenames }: JobServices) {
  const { id, request, raw, stopwatch } = job
  const warnings = warningsOf(raw)
  const dropped = Object.keys(valid.nodeErrors).length > 0
  const all = dropped ? [...warnings, 'some outputs are not valid and did not run; see node_errors'] : warnings
  return {
    ...echoed(request),
    id,
    prompt: withFileNames(valid.prompt, id, prependFilenames),
    filenames: result.files.map(({ filename }) => filename),
    stats: stopwatch.stats(result),
    ...(all.length > 0 && { warnings: [...all] }),
    ...(dropped && { node_errors: valid.nodeErrors }),
  }
}

/** What of the request an answer repeats, with defaults filled in. */
const echoed = ({ convert_output, s3, http_upload }: PromptRequest) => ({
  ...(convert_output && { convert_output }),
  ...(s3 && { s3 }),
  ...(http_upload && { http_upload }),
})

const inputsOf = ({ folder }: Job): string => join(folder, 'input')

/** Clean-up never fails a job. */
async function tidy({ folder, id }: Job, log: Log): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    log.warn({ id, err: error }, 'a job folder could not be removed')
  }
}

/** What `work` gives, unless `signal` aborts first: then its reason, though the work may go on for a moment. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
