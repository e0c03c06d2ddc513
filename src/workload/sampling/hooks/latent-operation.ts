import type { GuidanceHook } from '../../model/guidance.ts'
import { combined, type Tensor } from '../../tensor/tensor.ts'

/** Applies `operation` to the difference that guidance makes, or to the guess where there is none. */
export function operatedGuidance(operation: (latents: Tensor) => Tensor): GuidanceHook {
  return {
    before(guesses) {
      const { positive, negative } = guesses
      if (!negative) return { ...guesses, positive: operation(positive) }
      return { ...guesses, positive: combined([1, operation(combined([1, positive], [-1, negative]))], [1, negative]) }
    },
  }
}
