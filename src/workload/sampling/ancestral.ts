import type { ModelSampling } from '../model/ports.ts'
import { createGenerator } from '../tensor/random.ts'
import { addScaled, combined, type Tensor } from '../tensor/tensor.ts'
import type { NoiseSampler, SamplingRun } from './sampler.ts'

/** How an ancestral step from one level to the next is split: go down to `down`, then x·`keep` + noise·`up`. */
export interface AncestralSplit {
  readonly down: number
  readonly keep: number
  readonly up: number
}

/** The split that keeps the variance at `next`, for models that add noise to the image; `eta` 0 adds none. */
export function varianceSplit(sigma: number, next: number, eta = 1): AncestralSplit {
  const up = Math.min(next, eta * Math.sqrt((next ** 2 * (sigma ** 2 - next ** 2)) / sigma ** 2))
  return { down: Math.sqrt(next ** 2 - up ** 2), keep: 1, up }
}

/** The split of an ancestral step for either kind of model; for flow models image and noise are mixed anew. */
export function ancestralSplit({ flow }: ModelSampling, sigma: number, next: number): AncestralSplit {
  if (!flow) return varianceSplit(sigma, next)
  const down = next * (next / sigma)
  const keep = (1 - next) / (1 - down)
  return { down, keep, up: Math.sqrt(next ** 2 - (down * keep) ** 2) }
}

/** Puts the noise of an ancestral step back into x. */
export function renoised(x: Tensor, { keep, up }: AncestralSplit, noise: Tensor): Tensor {
  return keep === 1 ? addScaled(x, noise, up) : combined([keep, x], [up, noise])
}

/** Independent noise for every call, in the shape of x. Its seed is one further than that of the initial noise. */
export function independentNoise({ seed }: SamplingRun, { dims }: Tensor): NoiseSampler {
  const generator = createGenerator(seed + 1n)
  return () => generator.randn(dims)
}
