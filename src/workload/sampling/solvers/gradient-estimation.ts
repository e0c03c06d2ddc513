import { combined, type Tensor } from '../../tensor/tensor.ts'
import type { Step } from '../stepwise.ts'

/** How far beyond the newest slope the estimate goes. */
const gamma = 2

/**
 * Steps of Permenter and Yuan (2024), §4: `firstOrder` gives the slope and where it alone leads, and what the slope has
 * changed since the step before is added once more.
 */
export function gradientEstimation<S extends Step>(
  firstOrder: (step: S) => { readonly here: Tensor; readonly reached: Tensor },
): (step: S) => Tensor {
  let before: Tensor | undefined
  return (step) => {
    const { sigma, next, denoised } = step
    if (next === 0) return denoised
    const { here, reached } = firstOrder(step)
    const previous = before
    before = here
    if (!previous) return reached
    const extra = (gamma - 1) * (next - sigma)
    return combined([1, reached], [extra, here], [-extra, previous])
  }
}
