import { resized } from '../../tensor/resize.ts'
import { repeatRows, rowsOf } from '../../tensor/rows.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { withChannel } from './mask.ts'

/** Where one picture is laid over another. */
export interface Placement {
  /** The left upper corner, in pixels. */
  readonly x: number
  readonly y: number
  /** Pixels an entry along each side: 1 for pictures, 8 for latents. */
  readonly cell: number
  /** Whether the upper picture first takes the size of the lower. */
  readonly resizeSource: boolean
  /** `[N, h, w]` of any size, brought to that of the upper picture: 1 where it covers. It covers all without one. */
  readonly mask?: Tensor | undefined
}

/**
 * `source` `[M, C, h, w]` laid over `destination` `[N, C, H, W]`; its rows are cut or repeated to N. What lies beyond
 * the right and lower edge is cut off. Upstream counts negative corners from the far edge, as Python's slices do, and
 * fails where that leaves no room: so does this.
 */
export function composited(destination: Tensor, source: Tensor, placement: Placement): Tensor {
  const { cell, mask } = placement
  const [rows, channels, height, width] = destination.dims as Dims
  const upper = repeatRows(placement.resizeSource ? bilinear(source, width, height) : source, rows)
  const [, upperChannels, upperHeight, upperWidth] = upper.dims as Dims
  if (upperChannels !== channels)
    throw new Error(`the pictures have ${channels} and ${upperChannels} channels: they cannot be laid over each other`)
  const across = spanOf(placement.x, cell, upperWidth, width)
  const down = spanOf(placement.y, cell, upperHeight, height)
  const cover = mask && repeatRows(bilinear(withChannel(mask), upperWidth, upperHeight), rows).data

  const data = destination.data.slice()
  for (let plane = 0; plane < rowsOf(upper) * channels; plane++) {
    const row = Math.floor(plane / channels)
    for (let i = 0; i < down.length; i++) {
      for (let j = 0; j < across.length; j++) {
        const from = i * upperWidth + j
        const to = (plane * height + down.from + i) * width + across.from + j
        const share = cover ? cover[row * upperHeight * upperWidth + from]! : 1
        const own = Math.fround(Math.fround(1 - share) * data[to]!)
        data[to] = Math.fround(share * upper.data[plane * upperHeight * upperWidth + from]!) + own
      }
    }
  }
  return tensor(destination.dims, data)
}

type Dims = [rows: number, channels: number, height: number, width: number]

const bilinear = (t: Tensor, width: number, height: number) => resized(t, width, height, 'bilinear', 'disabled')

/** Where a picture of `length` entries laid at `offset` pixels meets one of `room` entries. */
function spanOf(offset: number, cell: number, length: number, room: number): { from: number; length: number } {
  const at = Math.max(-length * cell, Math.min(offset, room * cell))
  const start = Math.floor(at / cell)
  const visible = indexOf(room - start + Math.min(0, at), length)
  const from = indexOf(start, room)
  const free = Math.max(0, indexOf(start + length, room) - from)
  if (free !== visible && (free !== 0 || visible !== 1))
    // a single entry fits into none, as PyTorch spreads it
    throw new Error(`a picture of ${length} cannot be laid at ${offset} over one of ${room}: no corner may be negative`)
  return { from, length: free }
}

/** Python's reading of a bound of a slice of `length` entries. */
const indexOf = (bound: number, length: number): number =>
  bound < 0 ? Math.max(0, bound + length) : Math.min(bound, length)
