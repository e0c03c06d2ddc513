import type { ConvertOutput } from '../../contracts/convert-output.ts'
import type { ProblemCode } from '../../contracts/problem.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import type { ErrorFacts } from '../base/errors.ts'
import type { NetworkMeasure } from '../base/network-measure.ts'

/** One validated prompt and what becomes of its outputs. */
export interface EngineJob {
  /** The job's name, which begins the names of its files. */
  readonly id: string
  readonly prompt: Prompt
  /** Ids of the nodes to end at, in the order of the prompt. */
  readonly outputs: readonly string[]
  /** The folder of the pictures that came with this prompt. */
  readonly inputs: string
  /** Where the encoded outputs go; made when there is one. */
  readonly folder: string
  /** Whether files are called `<id>_<prefix>` or just `<id>`. */
  readonly prependId: boolean
  readonly convert: ConvertOutput | undefined
  /** Whether previews are encoded as well: they are shown, and no part of the result. */
  readonly keepPreviews?: boolean
  /** The client's `extra_data.extra_pnginfo`. */
  readonly pngInfo: Readonly<Record<string, unknown>> | undefined
}

/** What happens to a node, at an epoch time in milliseconds. */
export interface NodeEvent {
  readonly kind: 'cached' | 'started' | 'finished' | 'progress' | 'preview' | 'output'
  readonly node: string
  readonly at: number
  /** Of progress, and of the step that a preview shows. */
  readonly value?: number
  readonly max?: number
  /** A JPEG of what the node has so far. It may come a moment after the node has finished. */
  readonly preview?: Uint8Array
  /** Of an output, which comes once a run for each node that ends the prompt. */
  readonly output?: NodeOutput
  /** Of an output: how long encoding it took, in milliseconds. */
  readonly took?: number
}

/** 8-bit red, green and blue, row by row. */
export interface Picture {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: 3
}

/** What a node has so far, as small as its latents. */
export interface Sketch {
  readonly node: string
  /** The step it shows, and of how many. */
  readonly value: number
  readonly max: number
  readonly picture: Picture
}

/** What a node that ends a prompt shows. */
export interface NodeOutput {
  readonly files: readonly ShownFile[]
  readonly texts: readonly string[]
  /** Whether its files are moving pictures. */
  readonly animated: boolean
}

/** One encoded output. */
export interface EngineFile {
  /** As the client reads it: relative, with `/` between folders. */
  readonly filename: string
  readonly path: string
  readonly bytes: number
  readonly mime: string
}

/** A file that a node shows: a part of the result, or a preview. */
export interface ShownFile extends EngineFile {
  readonly retention: 'output' | 'temp'
}

/** What running a prompt gave. */
export interface EngineResult {
  /** In the order of the graph, then of the batch; without previews. */
  readonly files: readonly EngineFile[]
  /** When the nodes ran, in epoch milliseconds. */
  readonly start: number
  readonly end: number
  /** How long encoding took, in milliseconds. */
  readonly encodeTime: number
  /** How long ONNX Runtime held the thread meanwhile, in milliseconds; shared with prompts that ran beside this one. */
  readonly inferenceTime: number
}

/** What memory an engine should give back: idle models, or results of nodes. */
export interface Freeing {
  readonly models: boolean
  readonly results: boolean
}

/** An error on its way between processes. */
export interface Failure {
  readonly code: ProblemCode
  readonly message: string
  readonly facts: ErrorFacts
}

/** Main process → engine process. */
export type ToEngine =
  | { readonly kind: 'run'; readonly run: string; readonly job: EngineJob; readonly watched: boolean }
  /** Whether anybody looks at the run from now on. */
  | { readonly kind: 'watch'; readonly run: string; readonly watched: boolean }
  | { readonly kind: 'cancel'; readonly run: string }
  | ({ readonly kind: 'free' } & Freeing)

/**
 * Engine process → main process. Names of files, and no pixels but those of sketches: the main process encodes them,
 * because here the next step would hold the thread before an encoder could say that it is done. Each is also a sign of life.
 */
export type FromEngine =
  | { readonly kind: 'ready'; readonly device: string }
  | { readonly kind: 'alive' }
  | { readonly kind: 'measures'; readonly measures: readonly NetworkMeasure[] }
  | { readonly kind: 'events'; readonly run: string; readonly events: readonly NodeEvent[] }
  | { readonly kind: 'sketch'; readonly run: string; readonly sketch: Sketch }
  | { readonly kind: 'done'; readonly run: string; readonly result: EngineResult }
  | { readonly kind: 'failed'; readonly run: string; readonly failure: Failure }
