import type { NoiseOptions } from '../ancestral.ts'
import type { Sampler } from '../sampler.ts'
import { stochasticMultistep } from '../solvers/stochastic.ts'

/** SDE-DPM-Solver++(2M), Lu et al. (2022), with Heun's rule. */
export const dpmpp2mSdeHeun = (options: NoiseOptions = {}): Sampler =>
  stochasticMultistep(
    'dpmpp_2m_sde_heun',
    (h, exponent, denoised, [last]) => {
      if (!last) return []
      const weight = ((Math.expm1(-exponent) / exponent + 1) * h) / last.h
      return [
        [weight, denoised],
        [-weight, last.denoised],
      ]
    },
    options,
  )

export default dpmpp2mSdeHeun()
