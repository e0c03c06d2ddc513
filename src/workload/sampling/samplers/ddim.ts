import { eulerStep } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Song et al. (2021) without noise, which is Euler's method in σ; only what a mask hides is treated otherwise. */
export default {
  ...stepwise(
    'ddim',
    () =>
      ({ x, sigma, next, denoised }) =>
        eulerStep(x, sigma, next, denoised),
  ),
  drawsMaskNoise: true,
}
