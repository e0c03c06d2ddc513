import type { JobRecord } from '../../contracts/job.ts'
import type { PromptAnswer, PromptRequest } from '../../contracts/prompt.ts'
import type { WorkloadError } from '../base/errors.ts'
import type { DeliveryState } from '../delivery/parcel.ts'
import type { Upload } from '../delivery/uploads.ts'
import type { EngineFile, ShownFile } from '../engine/protocol.ts'
import type { Admitted } from './admission.ts'
import type { JobHistory } from './job-history.ts'
import type { ValidPrompt } from './ports.ts'
import type { Stopwatch } from './stopwatch.ts'
import type { JobWatcher } from './watchers.ts'

/** What a finished prompt is answered with; the images are still files, or somewhere else by now. */
export interface JobAnswer {
  readonly head: Omit<PromptAnswer, 'images'>
  readonly files: readonly EngineFile[]
  /** Where the files were uploaded to, in their order; undefined when the answer carries them. */
  readonly urls: readonly string[] | undefined
}

/** What an engine made of a prompt, before the files go anywhere. */
export type ExecutedPrompt = Omit<JobAnswer, 'urls'>

/** What is told of a job. */
export interface JobView {
  readonly record: JobRecord
  /** Of a job that succeeded, while its files can be had. */
  readonly answer: JobAnswer | undefined
  /** Of a job that succeeded. */
  readonly head: JobAnswer['head'] | undefined
  /** Of a job that failed or was cancelled. */
  readonly error: WorkloadError | undefined
  /** The outputs that can be read here. */
  readonly files: readonly EngineFile[]
}

/** How a job ended, and when in epoch milliseconds. */
export interface JobOutcome {
  readonly at: number
  readonly answer?: JobAnswer
  readonly error?: WorkloadError
}

/** What a prompt that nobody waits for was sent with; it keeps its previews too. */
export interface Submission {
  /** Who wants to be told of it. */
  readonly clientId: string | undefined
  /** Its place in the queue; without one it gets the next. */
  readonly number: number | undefined
  /** Whether it goes before all that wait. */
  readonly front: boolean
  /** The ids of the outputs to run; undefined: all. */
  readonly targets: readonly string[] | undefined
}

/** What makes a prompt outlive this process. */
export interface Durability {
  /** What an engine has made of it before: only the rest is left to do. */
  readonly executed: ExecutedPrompt | undefined
  /** Called with the engine's result before anything else is done with it. */
  keep(executed: ExecutedPrompt): Promise<void>
}

/** One prompt on its way through the house. */
export interface Job {
  readonly id: string
  /** Which run of that id, from 1. */
  readonly run: number
  /** Whether its client chose the id, and so can ask for it later. */
  readonly named: boolean
  /** Equal for requests that ask for the same. */
  readonly bodyKey: string
  /** Without pictures and credentials once it has ended. */
  request: PromptRequest
  /** Lower numbers leave the queue first. */
  readonly number: number
  /** Undefined when its client waits for the answer, or is told of it. */
  readonly submission: Submission | undefined
  /** Undefined when it is lost with this process; of no use once it has ended. */
  durability: Durability | undefined
  /** The body as it came; empty once the job has ended. */
  raw: Readonly<Record<string, unknown>>
  readonly upload: Upload | undefined
  /** The job's own folder: its name is not the client's, for the same id may come twice. */
  readonly folder: string
  readonly stop: AbortController
  readonly admitted: Admitted
  readonly stopwatch: Stopwatch
  readonly history: JobHistory
  readonly watcher: JobWatcher
  /** What its nodes have shown so far; it grows. */
  readonly shown: ShownFile[]
  /** Epoch milliseconds. */
  readonly created: number
  /** Rejects with what went wrong, at once when the job is stopped. */
  readonly answer: Promise<JobAnswer>
  /** Rejects with what is wrong with the prompt; undefined when that was looked at before. */
  readonly valid: Promise<ValidPrompt> | undefined
  /** Set when it has ended and nothing of it runs any more. */
  outcome: JobOutcome | undefined
  /** Set when an engine is done with it. */
  executed: ExecutedPrompt | undefined
  /** How far its result is on its way to other places than the answer. */
  delivery: readonly DeliveryState[]
  /** Whether its files are gone because they were delivered. */
  emptied: boolean
  /** Clients that wait for the answer. */
  waiting: number
}
