import type { GuidanceHook } from '../../model/guidance.ts'
import { rowsOf } from '../../tensor/rows.ts'
import { addScaled, combined, zeros } from '../../tensor/tensor.ts'
import { linspace } from '../linspace.ts'
import { scaledRows } from '../row-statistics.ts'

/** Guidance with a scale of its own for each of the frames that are the rows of a batch. */
function perFrameGuidance(scales: (frames: number, cfg: number) => ArrayLike<number>): GuidanceHook {
  return {
    combine({ positive, negative = zeros(positive.dims), cfg }) {
      const guidance = combined([1, positive], [-1, negative])
      return addScaled(negative, scaledRows(guidance, scales(rowsOf(positive), cfg)), 1)
    },
  }
}

/** The scale grows evenly from `first` at the first frame to the run's at the last. */
export function risingGuidance(first: number): GuidanceHook {
  return perFrameGuidance((frames, cfg) => linspace(first, cfg, frames))
}

/** The scale grows from `least` at both ends to the run's at the middle frame. */
export function triangularGuidance(least: number): GuidanceHook {
  return perFrameGuidance((frames, cfg) =>
    linspace(0, 1, frames).map((part) => 2 * Math.abs(part - Math.floor(part + 0.5)) * (cfg - least) + least),
  )
}
