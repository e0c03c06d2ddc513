import { addScaled, combined } from '../../tensor/tensor.ts'
import { independentNoise, varianceSplit } from '../ancestral.ts'
import { guessPairs, stepwiseOnPairs } from '../stepwise.ts'

/** DPM-Solver++(2S), Lu et al. (2022), over ancestral steps in the manner of CFG++, from x moved by the guidance. */
export default stepwiseOnPairs('dpmpp_2s_ancestral_cfg_pp', (run, start) => {
  const noise = independentNoise(run, start)
  const ask = guessPairs(run)
  return async ({ x, sigma, next, denoised, negative }) => {
    const { down, up } = varianceSplit(sigma, next)
    if (down === 0) return denoised
    const middle = Math.fround(Math.sqrt(sigma * down))
    const [half, whole] = [middle / sigma, down / sigma]
    const halfway = combined([half, x], [1, denoised], [-half, negative])
    const there = await ask(halfway, middle)
    const moved = combined([whole, x], [whole, denoised], [-whole, there.negative])
    const reached = addScaled(moved, there.denoised, 1 - whole)
    return addScaled(reached, noise(sigma, next), up)
  }
})
