import type { Tensor } from '../tensor/tensor.ts'
import type { ModelSampling } from './ports.ts'

/** The guesses at the clean image that guidance combines, all of the shape of `x`. */
export interface Guesses {
  /** The noisy latents the guesses were made from. */
  readonly x: Tensor
  readonly sigma: number
  readonly sampling: ModelSampling
  /** The guess under the positive conditioning. */
  readonly positive: Tensor
  /** The guess under the negative conditioning; undefined when it was not asked. */
  readonly negative: Tensor | undefined
  readonly cfg: number
}

/** A change to guidance, in one of three places. One that is given `needsNegative` has the negative asked even at cfg 1. */
export interface GuidanceHook {
  readonly needsNegative?: boolean
  /** Changes the guesses before they are combined. */
  before?(guesses: Guesses): Guesses
  /** Combines the guesses instead of the linear formula; the last one that is given counts. */
  combine?(guesses: Guesses): Tensor
  /** Changes the combined guess. */
  after?(denoised: Tensor, guesses: Guesses): Tensor
}
