import type { ModelSampling } from '../model/ports.ts'
import type { Tensor } from '../tensor/tensor.ts'

/** The model as samplers see it: given noisy `x` at level `sigma`, its guess at the clean image. */
export type Denoiser = (x: Tensor, sigma: number) => Promise<Tensor>

/** The guided guess at the clean image, and the one under the negative conditioning alone, before any noise mask. */
export interface GuessPair {
  readonly denoised: Tensor
  /** Undefined when the negative was not asked: at cfg 1, or by guiders that have none. */
  readonly negative: Tensor | undefined
}

/** Fresh noise of the shape of x for the step from `sigma` down to `next`. */
export type NoiseSampler = (sigma: number, next: number) => Tensor

export interface SamplingRun {
  readonly denoise: Denoiser
  /** As `denoise`, with the negative's guess beside it. */
  readonly denoisePair: (x: Tensor, sigma: number) => Promise<GuessPair>
  /** Noise levels, falling, usually ending in zero. */
  readonly sigmas: Float32Array
  /** The levels the model was trained on, for samplers that need alpha, log-SNR or the flow form. */
  readonly model: ModelSampling
  readonly seed: bigint
  readonly signal: AbortSignal
  /** After each step: how many are done, of how many, and the guess at the clean image. */
  onStep?(step: number, total: number, denoised: Tensor): void
}

/** An algorithm that walks x down the noise levels. One file each in `samplers/`. */
export interface Sampler {
  /** ComfyUI's `sampler_name`. */
  readonly name: string
  /** KSampler computes one level more and drops the last but one. */
  readonly discardsPenultimate?: boolean
  /** Needs the negative's guess (CFG++ and its kin): the negative is then asked even at cfg 1. */
  readonly asksNegative?: boolean
  /** What lies outside a noise mask gets noise of its own instead of the noise the run began with. */
  readonly drawsMaskNoise?: boolean
  /** The level that the result is taken to be at, where it is not the last of `sigmas`. */
  endsAt?(sigmas: Float32Array): number
  sample(x: Tensor, run: SamplingRun): Promise<Tensor>
}
