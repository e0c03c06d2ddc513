import { addScaled } from '../../tensor/tensor.ts'
import { ancestralSplit, independentNoise, renoised } from '../ancestral.ts'
import { eulerStep, slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** The midpoint method in ln σ that goes further down than asked and comes back with fresh noise. */
export default {
  ...stepwise('dpm_2_ancestral', (run, start) => {
    const noise = independentNoise(run, start)
    return async ({ x, sigma, next, denoised }) => {
      const split = ancestralSplit(run.model, sigma, next)
      if (split.down === 0) return denoised
      const middle = Math.fround(Math.sqrt(sigma * split.down))
      const halfway = eulerStep(x, sigma, middle, denoised)
      const reached = addScaled(x, slope(halfway, middle, await run.denoise(halfway, middle)), split.down - sigma)
      return renoised(reached, split, noise(sigma, next))
    }
  }),
  discardsPenultimate: true,
}
