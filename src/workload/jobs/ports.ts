import type { NodeErrors } from '../../contracts/problem.ts'
import type { Prompt } from '../../contracts/prompt.ts'

export type { NodeEvent, NodeOutput } from '../engine/protocol.ts'

/** A prompt that may run. */
export interface ValidPrompt {
  /** With its literals coerced to their declared types. */
  readonly prompt: Prompt
  /** Ids of the good nodes that a prompt may end at, in the order of the prompt. */
  readonly outputs: readonly string[]
  /** What is wrong with the outputs that will not run; empty when all do. */
  readonly nodeErrors: NodeErrors
}

/** The files that only one prompt can use. */
export interface PromptFiles {
  /** The folder of the pictures that came with it. */
  readonly inputs: string
  /** Names of pictures and models that will be there when it runs. */
  readonly assumed: ReadonlySet<string>
}

/** What the main process knows of the nodes: their declarations. */
export interface Declarations {
  /** Throws `invalid-graph` with every fault; with `targets` no other outputs count. */
  validate(prompt: Prompt, files: PromptFiles, targets?: readonly string[]): Promise<ValidPrompt>
  /** ComfyUI's `/object_info` of every node. */
  describe(): Promise<Readonly<Record<string, unknown>>>
  /** The same of one class type; undefined when there is no such node. */
  describeOne(classType: string): Promise<unknown>
}

/** The model files at this moment. */
export interface ModelFolders {
  readonly names: readonly string[]
  list(folder: string): Promise<readonly string[]>
  /** What a file says of itself; undefined when it says nothing, is in no format that can, or is not there. */
  metadata(folder: string, name: string): Promise<Readonly<Record<string, string>> | undefined>
}
