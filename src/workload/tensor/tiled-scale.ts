import { roundHalfEven } from './round.ts'
import { rowsOf, stackRows, takeRows } from './rows.ts'
import { type Tensor, tensor } from './tensor.ts'

/** How a picture is taken apart, in entries of the input's last two axes. */
export interface Tiling {
  readonly tile: { readonly width: number; readonly height: number }
  /** How much of a tile its neighbours also see. */
  readonly overlap: number
  /** How many times larger each side of the result is; below 1 for what makes pictures smaller. */
  readonly scale: number
  /** Channels of the result. */
  readonly channels: number
}

/** One tile along one axis: where it begins in the input and in the result, and how long it is in the input. */
interface Span {
  readonly from: number
  readonly length: number
  readonly to: number
}

/**
 * `[N, C, H, W]` → `[N, channels, H·scale, W·scale]`, tile by tile through `run` (`[1, C, h, w]` →
 * `[1, channels, h·scale, w·scale]`): overlapping tiles are weighted down linearly towards their edges and averaged,
 * so that no seam shows. A picture of at most one tile goes through whole. Tiles and their weights lie as in ComfyUI.
 */
export async function tiledScale(
  input: Tensor,
  tiling: Tiling,
  run: (tile: Tensor) => Promise<Tensor>,
): Promise<Tensor> {
  const results: Tensor[] = []
  for (let row = 0; row < rowsOf(input); row++)
    results.push(await scaledPicture(takeRows(input, row, row + 1), tiling, run))
  return stackRows(results, results.length)
}

/** The number of tiles, and so of calls, that `tiledScale` makes of one picture of `height` × `width`. */
export function tileCount(height: number, width: number, { tile, overlap, scale }: Tiling): number {
  if (height <= tile.height && width <= tile.width) return 1
  return spansOf(height, tile.height, overlap, scale).length * spansOf(width, tile.width, overlap, scale).length
}

async function scaledPicture(
  input: Tensor,
  { tile, overlap, scale, channels }: Tiling,
  run: (tile: Tensor) => Promise<Tensor>,
): Promise<Tensor> {
  const [, , height, width] = input.dims as [number, number, number, number]
  if (height <= tile.height && width <= tile.width) return run(input)
  const [outHeight, outWidth] = [roundHalfEven(height * scale), roundHalfEven(width * scale)]
  const area = outHeight * outWidth
  const sums = new Float32Array(channels * area)
  const weights = new Float32Array(area)
  const feather = roundHalfEven(overlap * scale)
  for (const y of spansOf(height, tile.height, overlap, scale)) {
    for (const x of spansOf(width, tile.width, overlap, scale)) {
      const { dims, data } = await run(cut(input, y, x))
      const [, , h, w] = dims as [number, number, number, number]
      const [down, across] = [featherOf(h, feather), featherOf(w, feather)]
      for (let i = 0; i < h; i++) {
        for (let j = 0; j < w; j++) {
          const weight = Math.fround(down[i]! * across[j]!)
          const at = (y.to + i) * outWidth + x.to + j
          weights[at] = weights[at]! + weight
          for (let c = 0; c < channels; c++)
            sums[c * area + at] = sums[c * area + at]! + Math.fround(data[(c * h + i) * w + j]! * weight)
        }
      }
    }
  }
  for (let i = 0; i < sums.length; i++) sums[i] = sums[i]! / weights[i % area]!
  return tensor([1, channels, outHeight, outWidth], sums)
}

/** The tiles along an axis of `length`: the last ones are pushed back to the edge and may be shorter. */
function spansOf(length: number, tile: number, overlap: number, scale: number): readonly Span[] {
  if (length > tile && tile <= overlap) throw new RangeError(`tiles of ${tile} cannot overlap by ${overlap}`)
  const starts = [0]
  if (length > tile) for (let at = tile - overlap; at < length - overlap; at += tile - overlap) starts.push(at)
  return starts.map((start) => {
    const from = Math.max(0, Math.min(length - overlap, start))
    return { from, length: Math.min(tile, length - from), to: roundHalfEven(from * scale) }
  })
}

/** The weights along one axis of a tile of `size`, rising over the first `feather` entries and falling over the last. */
function featherOf(size: number, feather: number): Float32Array {
  const weights = new Float32Array(size).fill(1)
  if (feather >= size) return weights
  for (let t = 0; t < feather; t++) {
    const factor = Math.fround((t + 1) / feather)
    weights[t] = weights[t]! * factor
    weights[size - 1 - t] = weights[size - 1 - t]! * factor
  }
  return weights
}

/** The part of `[1, C, H, W]` that the two spans mark. */
function cut({ dims, data }: Tensor, y: Span, x: Span): Tensor {
  const [, channels, height, width] = dims as [number, number, number, number]
  const part = new Float32Array(channels * y.length * x.length)
  let at = 0
  for (let c = 0; c < channels; c++) {
    for (let row = y.from; row < y.from + y.length; row++, at += x.length) {
      const from = (c * height + row) * width + x.from
      part.set(data.subarray(from, from + x.length), at)
    }
  }
  return tensor([1, channels, y.length, x.length], part)
}
