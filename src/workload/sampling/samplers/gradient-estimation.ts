import { eulerStep, slope } from '../slope.ts'
import { gradientEstimation } from '../solvers/gradient-estimation.ts'
import { stepwise } from '../stepwise.ts'

/** Permenter and Yuan (2024), §4: Euler's method with the slope extrapolated from the one before. */
export default stepwise('gradient_estimation', () =>
  gradientEstimation(({ x, sigma, next, denoised }) => ({
    here: slope(x, sigma, denoised),
    reached: eulerStep(x, sigma, next, denoised),
  })),
)
