import { ancestralSplit, independentNoise, type NoiseOptions, renoised } from '../ancestral.ts'
import type { Sampler } from '../sampler.ts'
import { between } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Euler's method that goes further down than asked and comes back with fresh noise. */
export const eulerAncestral = ({ eta = 1, noiseScale = 1 }: NoiseOptions = {}): Sampler =>
  stepwise('euler_ancestral', (run, start) => {
    const noise = independentNoise(run, start, noiseScale)
    return ({ x, sigma, next, denoised }) => {
      if (next === 0) return denoised
      const split = ancestralSplit(run.model, sigma, next, eta)
      return renoised(between(x, denoised, split.down / sigma), split, noise(sigma, next))
    }
  })

export default eulerAncestral()
