import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PromptRequest } from '../../contracts/prompt.ts'
import { unlessAborted } from '../base/abort.ts'
import { WorkloadError } from '../base/errors.ts'
import type { Engines } from '../engine/dispatcher.ts'
import type { EngineJob, EngineResult } from '../engine/protocol.ts'
import { type CheckedGraph, checkGraph, type GraphChecks } from './check-graph.ts'
import { createFaults } from './faults.ts'
import { saves, withFileNames } from './file-prefix.ts'
import type { ExecutedPrompt, Job } from './job.ts'
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
  readonly executed: Promise<ExecutedPrompt>
  /** Resolves when nothing of it runs any more: an engine may be at it for a moment after it was stopped. */
  readonly idle: Promise<void>
}

/** A job that is about to be done. */
export type Prepared = Omit<Job, 'answer' | 'valid'>

/** Takes in what a job needs, validates it and has an engine execute it. */
export function runPrompt(job: Prepared, services: RunServices): Run {
  let executing: Promise<unknown> = Promise.resolve()
  const preparing = prepare(job, services)
  const work = async (): Promise<ExecutedPrompt> => {
    const valid = await preparing
    job.watcher.queued(job, valid)
    const running = execute(job, valid, services)
    executing = running.catch(() => undefined).finally(valid.release)
    const result = await unlessAborted(running, job.stop.signal)
    return { head: headOf(job, valid, result, services), files: result.files }
  }
  const executed = work()
  const idle = executed.then(
    () => undefined,
    async () => void (await executing),
  )
  return { valid: preparing, executed, idle }
}

async function prepare(job: Prepared, services: RunServices): Promise<CheckedGraph> {
  const { request, submission, stop } = job
  const { prompt, credentials = [] } = request
  const inputs = { folder: inputsOf(job), credentials, signal: stop.signal, fetch: true }
  const valid = await checkGraph(prompt, inputs, createFaults(), services, submission?.targets)
  try {
    if (!submission) requireResult(valid)
    await mkdir(job.folder, { recursive: true }) // engines make none, so that what was given up does not come back
    stop.signal.throwIfAborted()
    return valid
  } catch (error) {
    valid.release()
    throw error
  }
}

/** Throws `no-output-node` for a prompt that only shows things, when its files are what is wanted. */
export function requireResult({ outputs, prompt, nodeErrors }: ValidPrompt): void {
  if (outputs.some((id) => saves(prompt[id]))) return
  throw new WorkloadError('no-output-node', 'the prompt has no node that saves its result, such as SaveImage', {
    location: 'prompt',
    nodeErrors,
  })
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
      priority: request.priority ?? 0,
      signal: stop.signal,
      audience: history.audience,
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

/** What of the request an answer repeats, with defaults filled in: all but what is secret or told elsewhere. */
export function echoed(request: PromptRequest): Omit<PromptRequest, 'credentials' | 'prompt' | 'id' | 'extra_data'> {
  const { credentials: _credentials, prompt: _prompt, id: _id, extra_data: _extra, ...repeated } = request
  return repeated
}

/** Where the pictures lie that came with a job. */
export const inputsOf = ({ folder }: Pick<Job, 'folder'>): string => join(folder, 'input')
