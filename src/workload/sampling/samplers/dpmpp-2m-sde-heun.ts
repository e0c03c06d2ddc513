import { stochasticMultistep } from '../stochastic.ts'

/** SDE-DPM-Solver++(2M), Lu et al. (2022), with Heun's rule. */
export default stochasticMultistep('dpmpp_2m_sde_heun', (h, exponent, denoised, [last]) => {
  if (!last) return []
  const weight = ((Math.expm1(-exponent) / exponent + 1) * h) / last.h
  return [
    [weight, denoised],
    [-weight, last.denoised],
  ]
})
