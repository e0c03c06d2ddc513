import type { GuidanceHook } from '../../model/guidance.ts'
import { combined, zeros } from '../../tensor/tensor.ts'
import { rowNorms, scaledRows } from '../row-statistics.ts'

/**
 * Guidance only below the noise level `truncateAt`, and there no longer than `limit` times the positive's guess;
 * `limit` 0 sets none (Lumina-Image 2.0, Qin et al. 2025).
 */
export function renormedGuidance(truncateAt: number, limit: number): GuidanceHook {
  return {
    combine({ sigma, positive, negative = zeros(positive.dims), cfg }) {
      if (sigma >= truncateAt) return positive
      const guided = combined([1 - cfg, negative], [cfg, positive])
      if (limit <= 0) return guided
      const had = rowNorms(guided)
      const factors = rowNorms(positive).map((length, row) => {
        const most = limit * length
        return had[row]! >= most && had[row]! > 0 ? most / had[row]! : 1
      })
      return scaledRows(guided, factors)
    },
  }
}
