import { addScaled, combined } from '../../tensor/tensor.ts'
import { slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Algorithm 2 of Karras et al. (2022) with its second-order correction, without churn. */
export default stepwise('heun', ({ denoise }) => async ({ x, sigma, next, denoised }) => {
  if (next === 0) return denoised
  const here = slope(x, sigma, denoised)
  const reached = addScaled(x, here, next - sigma)
  const there = slope(reached, next, await denoise(reached, next))
  const half = (next - sigma) / 2
  return combined([1, x], [half, here], [half, there])
})
