import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { type NoiseOptions, varianceSplit } from '../ancestral.ts'
import { createBrownianNoise } from '../brownian-tree.ts'
import { alphaOf, halfLogSnr, levelsOfFiniteSnr, sigmaAt } from '../log-snr.ts'
import type { Sampler } from '../sampler.ts'
import { between } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** What may be set of the two-stage stochastic solver. */
export interface DpmppSdeOptions extends NoiseOptions {
  /** Where between the ends of a step in λ the model is asked a second time; half way by default. */
  readonly ratio?: number
}

/** The two-stage stochastic solver of k-diffusion: DPM-Solver++(2S) with an ancestral split at both stages. */
export const dpmppSde = ({ eta = 1, noiseScale = 1, ratio = 1 / 2 }: DpmppSdeOptions = {}): Sampler =>
  stepwise(
    'dpmpp_sde',
    ({ model, sigmas, seed, denoise }, { dims }) => {
      const noise = createBrownianNoise(dims, sigmas, seed, noiseScale)

      return async ({ x, sigma, next, denoised }) => {
        if (next === 0) return denoised
        const lambda = halfLogSnr(model, sigma)
        /** To `target` on the guess `towards`, with noise: a step of the exponential integrator. */
        const advanceTo = (target: number, towards: Tensor): Tensor => {
          const { down, up } = varianceSplit(Math.exp(-lambda), Math.exp(-halfLogSnr(model, target)), eta)
          const h = -Math.log(down) - lambda
          const alpha = alphaOf(model, target)
          const kept = (alpha / alphaOf(model, sigma)) * Math.exp(-h)
          const reached = combined([kept, x], [-alpha * Math.expm1(-h), towards])
          return up === 0 || noiseScale === 0 ? reached : addScaled(reached, noise(sigma, target), alpha * up)
        }
        const h = Math.fround(halfLogSnr(model, next) - lambda)
        const middle = sigmaAt(model, Math.fround(lambda + Math.fround(ratio * h)))
        const there = await denoise(advanceTo(middle, denoised), middle)
        return advanceTo(next, ratio === 1 / 2 ? there : between(there, denoised, 1 / (2 * ratio)))
      }
    },
    levelsOfFiniteSnr,
  )

export default dpmppSde()
