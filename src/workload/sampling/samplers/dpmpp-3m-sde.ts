import { combined } from '../../tensor/tensor.ts'
import type { NoiseOptions } from '../ancestral.ts'
import type { Sampler } from '../sampler.ts'
import { type Correction, stochasticMultistep } from '../solvers/stochastic.ts'

const byDividedDifferences: Correction = (h, exponent, denoised, [last, first]) => {
  if (!last) return []
  const phi2 = Math.expm1(-exponent) / exponent + 1
  const newest = combined([h / last.h, denoised], [-h / last.h, last.denoised])
  if (!first) return [[phi2, newest]]
  const oldest = combined([h / first.h, last.denoised], [-h / first.h, first.denoised])
  const [r0, r1] = [last.h / h, first.h / h]
  const phi3 = phi2 / exponent - 0.5
  // The first derivative extrapolated to this level, less the second.
  const weight = (phi2 * r0 - phi3) / (r0 + r1)
  return [
    [phi2 + weight, newest],
    [-weight, oldest],
  ]
}

/** The three-step solver of the reverse SDE of k-diffusion, by divided differences of the guesses. */
export const dpmpp3mSde = (options: NoiseOptions = {}): Sampler =>
  stochasticMultistep('dpmpp_3m_sde', byDividedDifferences, options)

export default dpmpp3mSde()
