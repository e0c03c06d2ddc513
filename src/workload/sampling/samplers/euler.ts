import { eulerStep } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Algorithm 2 of Karras et al. (2022), without churn and correction. */
export default stepwise(
  'euler',
  () =>
    ({ x, sigma, next, denoised }) =>
      eulerStep(x, sigma, next, denoised),
)
