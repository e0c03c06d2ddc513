import type { GuidanceHook } from '../../model/guidance.ts'
import { combined } from '../../tensor/tensor.ts'
import { rowProducts, scaledRows } from '../row-statistics.ts'

/** CFG-Zero* (Fan et al. 2025): the negative's part is scaled so that it lies as near to the positive's as it can. */
export const zeroStarGuidance: GuidanceHook = Object.freeze({
  after(denoised, { x, positive, negative, cfg }) {
    if (!negative) return denoised
    const [towards, away] = [combined([1, x], [-1, positive]), combined([1, x], [-1, negative])]
    const squares = rowProducts(away, away)
    const alphas = rowProducts(towards, away).map((product, row) => product / (squares[row]! + 1e-8))
    const moved = scaledRows(
      negative,
      alphas.map((alpha) => (alpha - 1) * (1 - cfg)),
    )
    return combined([1, denoised], [1, moved])
  },
} satisfies GuidanceHook)
