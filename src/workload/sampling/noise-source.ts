import type { Latent } from '../model/ports.ts'
import type { Tensor } from '../tensor/tensor.ts'

/** Where a run's first noise comes from, as it flows along NOISE wires. */
export interface NoiseSource {
  /** Also seeds the noise that samplers draw on their way. */
  readonly seed: bigint
  /** Noise in the shape of the latents. */
  noiseFor(latent: Latent): Tensor
}
