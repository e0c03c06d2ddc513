import type { GuidanceHook } from '../../model/guidance.ts'
import { combined } from '../../tensor/tensor.ts'

/** Divides the noise that a step sees by `factor`, against the drift of long runs (Ning et al. 2024). */
export function epsilonScaling(factor: number): GuidanceHook {
  return { after: (denoised, { x }) => combined([1 - 1 / factor, x], [1 / factor, denoised]) }
}
