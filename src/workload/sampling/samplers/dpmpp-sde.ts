import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { varianceSplit } from '../ancestral.ts'
import { createBrownianNoise } from '../brownian-tree.ts'
import { alphaOf, halfLogSnr, levelsOfFiniteSnr, sigmaAt } from '../log-snr.ts'
import { stepwise } from '../stepwise.ts'

/** Where in λ the model is asked a second time. */
const ratio = 1 / 2

/** The two-stage stochastic solver of k-diffusion: DPM-Solver++(2S) with an ancestral split at both stages. */
export default stepwise(
  'dpmpp_sde',
  ({ model, sigmas, seed, denoise }, { dims }) => {
    const noise = createBrownianNoise(dims, sigmas, seed)

    return async ({ x, sigma, next, denoised }) => {
      if (next === 0) return denoised
      const lambda = halfLogSnr(model, sigma)
      /** To `target` on the guess `towards`, with noise: a step of the exponential integrator. */
      const advanceTo = (target: number, towards: Tensor): Tensor => {
        const { down, up } = varianceSplit(Math.exp(-lambda), Math.exp(-halfLogSnr(model, target)))
        const h = -Math.log(down) - lambda
        const alpha = alphaOf(model, target)
        const kept = (alpha / alphaOf(model, sigma)) * Math.exp(-h)
        return addScaled(combined([kept, x], [-alpha * Math.expm1(-h), towards]), noise(sigma, target), alpha * up)
      }
      const h = Math.fround(halfLogSnr(model, next) - lambda)
      const middle = sigmaAt(model, Math.fround(lambda + Math.fround(ratio * h)))
      return advanceTo(next, await denoise(advanceTo(middle, denoised), middle))
    }
  },
  levelsOfFiniteSnr,
)
