import type { NoiseOptions } from '../ancestral.ts'
import type { Sampler } from '../sampler.ts'
import { stochasticMultistep } from '../solvers/stochastic.ts'

/** SDE-DPM-Solver++(2M), Lu et al. (2022), with the midpoint rule. */
export const dpmpp2mSde = (options: NoiseOptions = {}): Sampler =>
  stochasticMultistep(
    'dpmpp_2m_sde',
    (h, exponent, denoised, [last]) => {
      if (!last) return []
      const weight = (-0.5 * Math.expm1(-exponent) * h) / last.h
      return [
        [weight, denoised],
        [-weight, last.denoised],
      ]
    },
    options,
  )

export default dpmpp2mSde()
