import type { GuidanceHook } from '../../model/guidance.ts'
import { combined, type Tensor, zeros } from '../../tensor/tensor.ts'
import { rowNorms, rowProducts, scaledRows } from '../row-statistics.ts'

/** How adaptive projected guidance weakens what oversaturates pictures. */
export interface Projection {
  /** How much of the guidance along the positive's guess remains. */
  readonly eta: number
  /** How long the guidance may become; 0: as long as it is. */
  readonly normThreshold: number
  /** How much of earlier guidance is carried on; below 0 it is pushed away from. */
  readonly momentum: number
}

/** Adaptive projected guidance (Sadat et al. 2024). */
export function projectedGuidance(projection: Projection): GuidanceHook {
  return { begin: () => projecting(projection) }
}

/** The hook of one run. */
function projecting({ eta, normThreshold, momentum }: Projection): GuidanceHook {
  let average: Tensor | undefined
  let level = Number.POSITIVE_INFINITY
  return {
    before(guesses) {
      const { sigma, positive, negative = zeros(positive.dims), cfg } = guesses
      const whole = combined([1, positive], [-1, negative])
      if (sigma > level) average = undefined
      level = sigma
      const carried: Tensor = momentum !== 0 && average ? combined([momentum, average], [1, whole]) : whole
      average = carried
      const limited = normThreshold > 0 ? shortened(carried, normThreshold) : carried
      const lengths = rowNorms(positive).map((length) => Math.max(length, 1e-12))
      const along = scaledRows(
        positive,
        rowProducts(limited, positive).map((product, row) => product / lengths[row]! ** 2),
      )
      const guidance = combined([1, limited], [eta - 1, along])
      return { ...guesses, positive: combined([1, negative], [1, guidance], [1 / cfg, whole]) }
    },
  }
}

/** Each row brought down to a length of `most`. */
function shortened(t: Tensor, most: number): Tensor {
  return scaledRows(
    t,
    rowNorms(t).map((length) => Math.min(1, most / length)),
  )
}
