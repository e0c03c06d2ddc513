import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { eulerStep, slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** How far beyond the newest slope the estimate goes. */
const gamma = 2

/** Permenter and Yuan (2024), §4: Euler's method with the slope extrapolated from the one before. */
export default stepwise('gradient_estimation', () => {
  let before: Tensor | undefined
  return ({ x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    const [previous, here] = [before, slope(x, sigma, denoised)]
    before = here
    const reached = eulerStep(x, sigma, next, denoised)
    if (!previous) return reached
    return addScaled(reached, combined([1, here], [-1, previous]), (gamma - 1) * (next - sigma))
  }
})
