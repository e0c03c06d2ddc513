import type { Tensor } from '../tensor/tensor.ts'

/** Named float32 tensors; every input and output has its rows on the first axis. */
export type Tensors = Readonly<Record<string, Tensor>>

/** Inputs that are the same for all rows of a run, such as weights. */
export type SharedTensors = Tensors

/** One loaded graph. */
export interface Session {
  /**
   * Calls that wait at the same moment may become one run; each gets what it would have got alone. Only calls with one
   * and the same object `shared`, or with none, become one.
   */
  run(feeds: Tensors, shared?: SharedTensors): Promise<Tensors>
}

/** A session that holds memory until it is released. */
export interface OpenSession extends Session {
  release(): Promise<void>
}
