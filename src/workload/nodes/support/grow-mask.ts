import { type Tensor, tensor } from '../../tensor/tensor.ts'

/**
 * Widens a mask `[N, H, W]` by a square of `by` pixels: 1 wherever the square around a pixel meets a value above 0. An
 * even square has no middle, so it reaches one pixel further up and to the left, as upstream's does.
 */
export function grown(mask: Tensor, by: number): Tensor {
  if (by === 0) return mask
  const [rows = 0, height = 0, width = 0] = mask.dims
  const across = new Float32Array(mask.data.length)
  for (let line = 0; line < rows * height; line++) widen(mask.data, across, line * width, width, 1, by)
  const out = new Float32Array(mask.data.length)
  for (let row = 0; row < rows; row++)
    for (let x = 0; x < width; x++) widen(across, out, row * height * width + x, height, width, by)
  return tensor(mask.dims, out)
}

/** One line of `length` values, `stride` apart from `start` on: 1 where a window of `by` values meets one above 0. */
function widen(from: Float32Array, to: Float32Array, start: number, length: number, stride: number, by: number): void {
  const before = Math.ceil((by - 1) / 2)
  let last = Number.NEGATIVE_INFINITY
  let ahead = 0
  for (let i = 0; i < length; i++) {
    for (const end = Math.min(length, i - before + by); ahead < end; ahead++)
      if (from[start + ahead * stride]! > 0) last = ahead
    to[start + i * stride] = Number(last >= i - before)
  }
}
