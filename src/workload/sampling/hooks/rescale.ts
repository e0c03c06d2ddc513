import type { GuidanceHook } from '../../model/guidance.ts'
import { addScaled, combined, zeros } from '../../tensor/tensor.ts'
import { rowDeviations, scaledRows } from '../row-statistics.ts'

/**
 * Guidance on v-predictions whose contrast is brought back to that of the positive's (Lin et al. 2024, §3.4);
 * `multiplier` is how much of that counts.
 */
export function rescaledGuidance(multiplier: number): GuidanceHook {
  return {
    combine({ x, sigma, positive, negative, cfg }) {
      const variance = sigma ** 2 + 1
      const toV = Math.sqrt(variance) / sigma
      const v = (denoised = zeros(x.dims)) => combined([toV / variance, x], [-toV, denoised])
      const [towards, away] = [v(positive), v(negative)]
      const guided = combined([1 - cfg, away], [cfg, towards])
      const [wanted, had] = [rowDeviations(towards), rowDeviations(guided)]
      const rescaled = scaledRows(
        guided,
        wanted.map((deviation, row) => (multiplier * deviation) / had[row]! + 1 - multiplier),
      )
      return addScaled(combined([1 / variance, x]), rescaled, -1 / toV)
    },
  }
}
