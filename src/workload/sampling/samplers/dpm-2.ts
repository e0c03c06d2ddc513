import { addScaled } from '../../tensor/tensor.ts'
import { eulerStep, slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** The midpoint method in ln σ: DPM-Solver-2 of Lu et al. (2022) as Karras et al. (2022) write it. */
export default {
  ...stepwise('dpm_2', ({ denoise }) => async ({ x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    const middle = Math.fround(Math.sqrt(sigma * next))
    const halfway = eulerStep(x, sigma, middle, denoised)
    return addScaled(x, slope(halfway, middle, await denoise(halfway, middle)), next - sigma)
  }),
  discardsPenultimate: true,
}
