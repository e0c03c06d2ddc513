import { combined, type Tensor } from '../../tensor/tensor.ts'
import { stepwise } from '../stepwise.ts'

/** DPM-Solver++(2M), Lu et al. (2022), algorithm 2; steps are measured in -ln σ for every kind of model. */
export default stepwise('dpmpp_2m', () => {
  let before: { readonly denoised: Tensor; readonly h: number } | undefined
  return ({ x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    const h = Math.log(sigma / next)
    const previous = before
    before = { denoised, h }
    const toImage = -Math.expm1(-h)
    if (!previous) return combined([next / sigma, x], [toImage, denoised])
    const extra = h / (2 * previous.h)
    return combined([next / sigma, x], [toImage * (1 + extra), denoised], [-toImage * extra, previous.denoised])
  }
})
