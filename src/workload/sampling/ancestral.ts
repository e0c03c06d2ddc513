import type { ModelSampling } from '../model/ports.ts'
import { createGenerator } from '../tensor/random.ts'
import { addScaled, combined, scaled, type Tensor } from '../tensor/tensor.ts'
import type { NoiseSampler, SamplingRun } from './sampler.ts'

/** How an ancestral step from one level to the next is split: go down to `down`, then x·`keep` + noise·`up`. */
export interface AncestralSplit {
  readonly down: number
  readonly keep: number
  readonly up: number
}

/** What may be set of a solver that adds noise on its way. */
export interface NoiseOptions {
  /** How much of the noise that a step removes is replaced by fresh noise; 1 by default, 0 is none. */
  readonly eta?: number
  /** What the fresh noise is multiplied with; 1 by default. Karras et al. (2022) write S_noise. */
  readonly noiseScale?: number
}

/** The split that keeps the variance at `next`, for models that add noise to the image; `eta` 0 adds none. */
export function varianceSplit(sigma: number, next: number, eta = 1): AncestralSplit {
  if (eta === 0) return { down: next, keep: 1, up: 0 }
  // From pure noise (σ infinite) nothing of x is kept.
  const share = sigma === Number.POSITIVE_INFINITY ? 1 : eta * Math.sqrt((sigma ** 2 - next ** 2) / sigma ** 2)
  const up = Math.min(next, next * share)
  return { down: Math.sqrt(next ** 2 - up ** 2), keep: 1, up }
}

/** The split of an ancestral step for either kind of model; for flow models image and noise are mixed anew. */
export function ancestralSplit({ flow }: ModelSampling, sigma: number, next: number, eta = 1): AncestralSplit {
  if (!flow) return varianceSplit(sigma, next, eta)
  if (eta === 0) return { down: next, keep: 1, up: 0 }
  const down = next * (1 + (next / sigma - 1) * eta)
  const keep = (1 - next) / (1 - down)
  return { down, keep, up: Math.sqrt(next ** 2 - (down * keep) ** 2) }
}

/** Puts the noise of an ancestral step back into x. */
export function renoised(x: Tensor, { keep, up }: AncestralSplit, noise: Tensor): Tensor {
  return keep === 1 ? addScaled(x, noise, up) : combined([keep, x], [up, noise])
}

/** Independent noise for every call, in the shape of x. Its seed is one further than that of the initial noise. */
export function independentNoise({ seed }: SamplingRun, { dims }: Tensor, scale = 1): NoiseSampler {
  const generator = createGenerator(seed + 1n)
  return () => (scale === 1 ? generator.randn(dims) : scaled(generator.randn(dims), scale))
}
