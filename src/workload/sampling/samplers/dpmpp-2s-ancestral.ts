import { ancestralSplit, independentNoise, type NoiseOptions, renoised } from '../ancestral.ts'
import { halfLogSnr, sigmaAt } from '../log-snr.ts'
import type { Sampler } from '../sampler.ts'
import { between } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** DPM-Solver++(2S), Lu et al. (2022), algorithm 1, down to an ancestral level and back with fresh noise. */
export const dpmpp2sAncestral = ({ eta = 1, noiseScale = 1 }: NoiseOptions = {}): Sampler =>
  stepwise('dpmpp_2s_ancestral', (run, start) => {
    const noise = independentNoise(run, start, noiseScale)
    return async ({ x, sigma, next, denoised }) => {
      const split = ancestralSplit(run.model, sigma, next, eta)
      if (split.down === 0) return denoised
      // Half way in λ; a flow model's pure noise has no λ, and half way from it is taken to be just below it.
      const endless = run.model.flow && sigma === 1
      const lambda = (halfLogSnr(run.model, sigma) + halfLogSnr(run.model, split.down)) / 2
      const middle = endless ? Math.fround(0.9999) : sigmaAt(run.model, lambda)
      const halfway = between(x, denoised, middle / sigma)
      const reached = between(x, await run.denoise(halfway, middle), split.down / sigma)
      return renoised(reached, split, noise(sigma, next))
    }
  })

export default dpmpp2sAncestral()
