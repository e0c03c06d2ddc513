import type { GuidanceHook } from '../../model/guidance.ts'
import { channelProducts, scaledCells } from '../row-statistics.ts'

/** Keeps the guided guess at every cell from being longer, over its channels, than the positive's; times `strength`. */
export function normLimitedGuidance(strength: number): GuidanceHook {
  return {
    after(denoised, { positive }) {
      const [wanted, had] = [channelProducts(positive, positive), channelProducts(denoised, denoised)]
      const factors = wanted.map((square, cell) => {
        const ratio = Math.sqrt(square) / (Math.sqrt(had[cell]!) + 1e-8)
        return Math.min(ratio, 1) * strength
      })
      return scaledCells(denoised, factors)
    },
  }
}
