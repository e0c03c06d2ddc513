import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { alphaOf } from '../log-snr.ts'
import type { SamplingRun } from '../sampler.ts'
import { type Advance, guessPairs, type PairStep, walk } from '../stepwise.ts'

/** How much of the change of the noise estimate is carried forward. */
const carried = 0.1
/** How much of a step is that of Adams and Bashforth instead of the first-order one. */
const blended = 0.25

/** What a step leaves to the next. */
interface Past {
  readonly sigma: number
  readonly denoised: Tensor
  readonly noise: Tensor
  /** dx/dσ of the first-order step. */
  readonly rate: Tensor
}

/** The steps of one run. */
function begin(model: Parameters<typeof alphaOf>[0]): Advance<PairStep> {
  let before: Past | undefined
  return ({ x, sigma, next, denoised, negative }) => {
    const previous = before
    const alpha = alphaOf(model, sigma)
    const noise = combined([1 / sigma, x], [-alpha / sigma, negative])
    if (next === 0) {
      if (!previous) return denoised
      const extra = -sigma / (sigma - previous.sigma)
      return combined([1 + extra, denoised], [-extra, previous.denoised])
    }
    const length = next - sigma
    const ratio = previous ? length / (sigma - previous.sigma) : 0
    const kept = previous ? combined([1 + carried * ratio, noise], [-carried * ratio, previous.noise]) : noise
    const move = combined([alphaOf(model, next), denoised], [next, kept], [-1, x])
    const rate = combined([1 / length, move])
    before = { sigma, denoised, noise, rate }
    if (!previous) return addScaled(x, move, 1)
    // Two steps of Adams and Bashforth for steps of different lengths, as multiples of the rates.
    const change = (blended * length * ratio) / 2
    return combined([1, x], [1 - blended, move], [blended * length + change, rate], [-change, previous.rate])
  }
}

/**
 * CFG++ (Chung et al. 2024) with the noise estimate carried forward and a part of each step from the rate before it.
 * It does not ask the negative where guidance does not; the guess then stands for it.
 */
export default Object.freeze({
  name: 'cfgpp_ud10_ab',
  async sample(x: Tensor, run: SamplingRun) {
    const ask = guessPairs(run, (denoised) => denoised)
    return walk(x, run, run.sigmas, begin(run.model), ask)
  },
})
