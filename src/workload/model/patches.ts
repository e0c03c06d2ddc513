/**
 * A change to a network's weights: what a LoRA file, or another network of the same shape, holds. Made by a
 * `ModelStore` or a network, understood by the networks it is given to; names that a network does not have are passed
 * over.
 */
export interface WeightPatch {
  /** Equal for equal contents, so that what was made of it can be found again. */
  readonly key: string
}

/** A patch and how much of it is added. */
export interface AppliedPatch {
  readonly patch: WeightPatch
  readonly strength: number
  /** What the weights it changes are multiplied with before; 1 unless given. */
  readonly kept?: number
  /** Which weights it may change, by the names the architecture has for them; all unless given. */
  readonly where?: RegExp
}

/** Adds nothing to any weight; applied with `kept` it multiplies them. */
export const noPatch: WeightPatch = { key: 'nothing' }
