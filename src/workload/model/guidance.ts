import type { Tensor } from '../tensor/tensor.ts'
import type { Conditioning } from './conditioning.ts'
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
  /** The guess under the further conditioning of the hook that combines. */
  readonly further?: Tensor | undefined
}

/** Where a run stands when a hook changes its noise mask. */
export interface MaskStep {
  readonly sigma: number
  /** The noise levels of the whole run, falling. */
  readonly sigmas: Float32Array
  readonly sampling: ModelSampling
}

/** A change to guidance, in one of several places. One with `needsNegative` has the negative asked even at cfg 1. */
export interface GuidanceHook {
  readonly needsNegative?: boolean
  /** For hooks that remember earlier guesses: makes the hook that serves one run. */
  begin?(): GuidanceHook
  /** A conditioning beside the run's own, for `combine`. */
  readonly further?: Conditioning
  /** Changes the guesses before they are combined. */
  before?(guesses: Guesses): Guesses
  /** Combines the guesses instead of the linear formula; the last one that is given counts. */
  combine?(guesses: Guesses): Tensor
  /** Changes the combined guess. */
  after?(denoised: Tensor, guesses: Guesses): Tensor
  /** The mask of one step, made of the run's noise mask `[N, C, H, W]`; the last one that is given counts. */
  mask?(mask: Tensor, step: MaskStep): Tensor
}
