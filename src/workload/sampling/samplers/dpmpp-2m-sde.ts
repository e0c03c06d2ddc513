import { stochasticMultistep } from '../stochastic.ts'

/** SDE-DPM-Solver++(2M), Lu et al. (2022), with the midpoint rule. */
export default stochasticMultistep('dpmpp_2m_sde', (h, exponent, denoised, [last]) => {
  if (!last) return []
  const weight = (-0.5 * Math.expm1(-exponent) * h) / last.h
  return [
    [weight, denoised],
    [-weight, last.denoised],
  ]
})
