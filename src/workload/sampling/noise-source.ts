import type { Latent } from '../model/ports.ts'
import { createGenerator } from '../tensor/random.ts'
import { stackRows } from '../tensor/rows.ts'
import { type Tensor, zeros } from '../tensor/tensor.ts'

/** Where a run's first noise comes from, as it flows along NOISE wires. */
export interface NoiseSource {
  /** Also seeds the noise that samplers draw on their way. */
  readonly seed: bigint
  /** Noise in the shape of the latents. */
  noiseFor(latent: Latent): Tensor
}

/** The noise of `seed`. */
export const seededNoise = (seed: bigint): NoiseSource => ({ seed, noiseFor: (latent) => prepareNoise(latent, seed) })

/** No noise; what samplers draw on their way has the seed 0. */
export const noNoise: NoiseSource = Object.freeze({ seed: 0n, noiseFor: ({ samples }: Latent) => zeros(samples.dims) })

/**
 * The noise of a seed for latents: one draw for all rows or, where the latents name them, the rows of that draw which
 * each would have had in the batch they came from.
 */
export function prepareNoise({ samples, batchIndex }: Latent, seed: bigint): Tensor {
  const generator = createGenerator(seed)
  if (!batchIndex) return generator.randn(samples.dims)
  const rowDims = [1, ...samples.dims.slice(1)]
  const drawn = Array.from({ length: Math.max(...batchIndex) + 1 }, () => generator.randn(rowDims))
  return stackRows(
    batchIndex.map((index) => drawn[index]!),
    batchIndex.length,
  )
}
