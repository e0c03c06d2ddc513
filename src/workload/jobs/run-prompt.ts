import { join } from 'node:path'
import type { PromptRequest } from '../../contracts/prompt.ts'
import { unlessAborted } from '../base/abort.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Engines } from '../engine/dispatcher.ts'
import type { EngineJob, EngineResult } from '../engine/protocol.ts'
import { checkGraph, type GraphChecks } from './check-graph.ts'
import { createFaults } from './faults.ts'
import { saves, withFileNames } from './file-prefix.ts'
import type { Job, JobAnswer } from './job.ts'
import type { ValidPrompt } from './ports.ts'
import { warningsOf } from './prompt-body.ts'

export interface RunServices extends GraphChecks {
  readonly engines: Engines
  readonly prependFilenames: boolean
  /** From the moment an engine takes it; 0: no limit. */
  readonly promptTimeoutMs: number
}

/** A job that is being done. */
export interface Run {
  /** Rejects with what is wrong with the prompt. */
  readonly valid: Promise<ValidPrompt>
  /** Rejects with what went wrong, at once when the job is stopped. */
  readonly answer: Promise<JobAnswer>
  /** Resolves when nothing of it runs any more: an engine may be at it for a moment after it was stopped. */
  readonly idle: Promise<void>
}

/** A job that is about to be done. */
export type Prepared = Omit<Job, 'answer' | 'valid'>

/** Takes in a job's media, validates it, has an engine execute it, and uploads its files if they are wanted elsewhere. */
export function runPrompt(job: Prepared, services: RunServices): Run {
  let executing: Promise<unknown> = Promise.resolve()
  const preparing = prepare(job, services)
  const work = async (): Promise<JobAnswer> => {
    const valid = await preparing
    job.watcher.queued(job, valid)
    const running = execute(job, valid, services)
    executing = running.catch(() => undefined)
    const result = await unlessAborted(running, job.stop.signal)
    job.admitted.stage = 'delivering'
    const { files } = result
    const urls = job.upload && (await job.stopwatch.uploading(job.upload.run(files, job.stop.signal)))
    return { head: headOf(job, valid, result, services), files, urls }
  }
  const answer = work()
  const idle = answer.then(
    () => undefined,
    async () => void (await executing),
  )
  return { valid: preparing, answer, idle }
}

async function prepare(job: Prepared, services: RunServices): Promise<ValidPrompt> {
  const valid = await checkGraph(job.request.prompt, inputsOf(job), createFaults(), services, job.submission?.targets)
  if (!job.submission && !valid.outputs.some((id) => saves(valid.prompt[id])))
    throw new WorkloadError('no-output-node', 'the prompt has no node that saves its result, such as SaveImage', {
      location: 'prompt',
      nodeErrors: valid.nodeErrors,
    })
  job.stop.signal.throwIfAborted()
  return valid
}

async function execute(job: Prepared, { prompt, outputs }: ValidPrompt, services: RunServices): Promise<EngineResult> {
  const { id, request, stop, stopwatch, admitted, history, watcher, shown } = job
  const { engines, prependFilenames, promptTimeoutMs } = services
  const engineJob: EngineJob = {
    id,
    prompt,
    outputs,
    inputs: inputsOf(job),
    folder: join(job.folder, 'output'),
    prependId: prependFilenames,
    convert: request.convert_output,
    keepPreviews: job.submission !== undefined,
    pngInfo: request.extra_data?.extra_pnginfo,
  }
  let timer: NodeJS.Timeout | undefined
  const expire = () =>
    stop.abort(new WorkloadError('timed-out', `the prompt ran longer than ${promptTimeoutMs / 1000} s`))
  stopwatch.queued()
  admitted.stage = 'waiting'
  try {
    return await engines.run(engineJob, {
      number: job.number,
      signal: stop.signal,
      onStarted() {
        admitted.stage = 'running'
        stopwatch.started()
        history.start()
        shown.length = 0
        watcher.started(job)
        if (promptTimeoutMs > 0) timer ??= setTimeout(expire, promptTimeoutMs)
      },
      onEvent(event) {
        stopwatch.note(event)
        history.note(event)
        shown.push(...(event.output?.files ?? []))
        watcher.event(job, event)
      },
    })
  } finally {
    clearTimeout(timer)
  }
}

function headOf(job: Prepared, valid: ValidPrompt, result: EngineResult, { prependFilenames }: RunServices) {
  const { id, request, raw, stopwatch } = job
  const warnings = warningsOf(raw)
  const dropped = Object.keys(valid.nodeErrors).length > 0
  const all = [
    ...warnings,
    ...(dropped ? ['some outputs are not valid and did not run; see node_errors'] : []),
    ...(isUnconverted(request, result) ? ['moving pictures are not converted: they come as their node made them'] : []),
  ]
  return {
    ...echoed(request),
    id,
    prompt: withFileNames(valid.prompt, id, prependFilenames),
    filenames: result.files.map(({ filename }) => filename),
    stats: stopwatch.stats(result),
    ...(all.length > 0 && { warnings: all }),
    ...(dropped && { node_errors: valid.nodeErrors }),
  }
}

/** Whether a file is not in the format that the request asks for. */
const isUnconverted = ({ convert_output: wanted }: PromptRequest, { files }: EngineResult): boolean =>
  wanted !== undefined && files.some(({ filename }) => !filename.endsWith(`.${wanted.format}`))

/** What of the request an answer repeats, with defaults filled in. */
const echoed = ({ convert_output, s3, http_upload }: PromptRequest) => ({
  ...(convert_output && { convert_output }),
  ...(s3 && { s3 }),
  ...(http_upload && { http_upload }),
})

const inputsOf = ({ folder }: Prepared): string => join(folder, 'input')
