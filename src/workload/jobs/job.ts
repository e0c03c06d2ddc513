import type { PromptAnswer, PromptRequest } from '../../contracts/prompt.ts'
import type { WorkloadError } from '../base/errors.ts'
import type { Upload } from '../delivery/uploads.ts'
import type { EngineFile } from '../engine/protocol.ts'
import type { Admitted } from './admission.ts'
import type { JobHistory } from './job-history.ts'
import type { Stopwatch } from './stopwatch.ts'

/** What a finished prompt is answered with; the images are still files, or somewhere else by now. */
export interface JobAnswer {
  readonly head: Omit<PromptAnswer, 'images'>
  readonly files: readonly EngineFile[]
  /** Where the files were uploaded to, in their order; undefined when the answer carries them. */
  readonly urls: readonly string[] | undefined
}

/** How a job ended, and when in epoch milliseconds. */
export interface JobOutcome {
  readonly at: number
  readonly answer?: JobAnswer
  readonly error?: WorkloadError
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
  readonly request: PromptRequest
  /** The body as it came. */
  readonly raw: Readonly<Record<string, unknown>>
  readonly upload: Upload | undefined
  /** The job's own folder: its name is not the client's, for the same id may come twice. */
  readonly folder: string
  readonly stop: AbortController
  readonly admitted: Admitted
  readonly stopwatch: Stopwatch
  readonly history: JobHistory
  /** Epoch milliseconds. */
  readonly created: number
  /** Rejects with what went wrong, at once when the job is stopped. */
  readonly answer: Promise<JobAnswer>
  /** Set when it has ended and nothing of it runs any more. */
  outcome: JobOutcome | undefined
  /** Clients that wait for the answer. */
  waiting: number
}
