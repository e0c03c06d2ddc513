import { inputChannels } from '../../architectures/input-channels.ts'
import { roundHalfEven } from '../../tensor/round.ts'
import type { WeightView } from '../../weights/weight-view.ts'

interface Size {
  readonly height: number
  readonly width: number
}

/** What makes the picture smaller behind an input block, before or after its skip connection. */
interface Shrinking {
  readonly block: number
  readonly factor: number
  readonly afterSkip: boolean
}

/** What an input block computes: its channels, and the size of what it gives, of the skip connection, and of what comes next. */
export interface BlockSizes {
  readonly channels: number
  readonly given: Size
  readonly kept: Size
  readonly next: Size
}

/** The shapes in the encoder of a UNet for latents of `size`: a downsampling halves, rounding up. */
export function inputSizes(view: WeightView, size: Size, shrinkings: readonly Shrinking[]): readonly BlockSizes[] {
  let next = size
  return inputChannels(view).map((channels, i) => {
    const given = view.has(`input_blocks.${i}.0.op.weight`) ? resized(next, (side) => Math.ceil(side / 2)) : next
    const shrunk = (from: Size, afterSkip: boolean) =>
      shrinkings
        .filter((each) => each.block === i && each.afterSkip === afterSkip)
        .reduce((at, { factor }) => resized(at, (side) => roundHalfEven(side * (1 / factor))), from)
    const kept = shrunk(given, false)
    next = shrunk(kept, true)
    return { channels, given, kept, next }
  })
}

const resized = ({ height, width }: Size, f: (side: number) => number): Size => ({ height: f(height), width: f(width) })
