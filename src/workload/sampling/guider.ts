import type { DiffusionModel } from '../model/ports.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { GuessPair } from './sampler.ts'

/** What a run tells its guider once, before the first guess. */
export interface GuidanceRun {
  /** The picture that the run begins with, in the network's scale: `[N, C, H, W]`. */
  readonly latent: Tensor
  /** 1 where the run may change the picture: `[N, 1, H, W]`. */
  readonly noiseMask: Tensor | undefined
  /** Whether the sampler wants the negative's guess beside the guided one. */
  readonly asksNegative: boolean
  readonly signal: AbortSignal
}

/** A model and how its guesses under several conditionings become one, as it flows along GUIDER wires. */
export interface Guider {
  readonly model: DiffusionModel
  /** Puts together what does not change during a run; the result guesses at the clean image. */
  guide(run: GuidanceRun): (x: Tensor, sigma: number) => Promise<GuessPair>
}
