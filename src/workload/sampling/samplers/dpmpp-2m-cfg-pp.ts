import { combined, type Tensor } from '../../tensor/tensor.ts'
import { stepwiseOnPairs } from '../stepwise.ts'

/** DPM-Solver++(2M), Lu et al. (2022), in the manner of CFG++: away from the negative's guess, onto the guided one. */
export default stepwiseOnPairs('dpmpp_2m_cfg_pp', () => {
  let before: { readonly negative: Tensor; readonly h: number } | undefined
  return ({ x, sigma, next, denoised, negative }) => {
    if (next === 0) return denoised
    const h = Math.log(sigma / next)
    const previous = before
    before = { negative, h }
    const kept = next / sigma
    const moved = combined([kept, x], [1, denoised], [-kept, negative])
    if (!previous) return moved
    const extra = (-Math.expm1(-h) * h) / (2 * previous.h)
    return combined([1, moved], [extra, denoised], [-extra, previous.negative])
  }
})
