import type { Credentials } from '../../contracts/credentials.ts'
import type { Prompt } from '../../contracts/prompt.ts'

/** How the inputs of a prompt are taken in. */
export interface InputOptions {
  /** Where pictures that belong to this prompt alone are kept; made when needed. */
  readonly folder: string
  /** Who asks, where a URL wants to know. */
  readonly credentials: Credentials
  readonly signal: AbortSignal
  /** False: URLs are only checked (their form, and addresses that stand in them), and fetched another time. */
  readonly fetch: boolean
}

/** A prompt whose inputs are files of this machine. */
export interface TakenInputs {
  /** With the names of files where there were URLs and pictures. */
  readonly prompt: Prompt
  /** Names to take as given: of files that are not there yet, and of files that only who knows their URL may name. */
  readonly assumed: ReadonlySet<string>
  /** Lets go of shared files, which are not removed before. */
  release(): void
}

/** Takes in what a prompt names by URL or carries in itself. Throws one error with all faults. */
export type TakeInputs = (prompt: Prompt, options: InputOptions) => Promise<TakenInputs>
