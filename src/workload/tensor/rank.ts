import { type Tensor, tensor } from './tensor.ts'

/** A window over a line: how many places it reaches back and ahead of its own. */
export interface Reach {
  readonly before: number
  readonly after: number
}

/** The largest value of a square window around each pixel of `[…, H, W]`; what lies outside does not count. */
export const dilated = (t: Tensor, reach: Reach): Tensor => extremes(t, reach, 1)

/** The smallest value of a square window around each pixel of `[…, H, W]`; what lies outside does not count. */
export const eroded = (t: Tensor, reach: Reach): Tensor => extremes(t, reach, -1)

/** A square's extreme is that of its lines' extremes. `sign` 1: largest, -1: smallest. */
function extremes(t: Tensor, reach: Reach, sign: 1 | -1): Tensor {
  const [height, width] = t.dims.slice(-2) as [number, number]
  const across = new Float32Array(t.data.length)
  for (let line = 0; line < t.data.length; line += width) slide(t.data, across, line, width, 1, reach, sign)
  const out = new Float32Array(t.data.length)
  for (let plane = 0; plane < out.length; plane += height * width)
    for (let x = 0; x < width; x++) slide(across, out, plane + x, height, width, reach, sign)
  return tensor(t.dims, out)
}

/**
 * One line of `length` values, `stride` apart from `start` on. A queue holds the places whose values no later one in the
 * window beats, so each is looked at twice however wide the window is (Lemire 2006).
 */
function slide(
  from: Float32Array,
  to: Float32Array,
  start: number,
  length: number,
  stride: number,
  { before, after }: Reach,
  sign: 1 | -1,
): void {
  const queue = new Int32Array(length)
  let [head, tail, next] = [0, 0, 0]
  const at = (i: number) => sign * from[start + i * stride]!
  for (let i = 0; i < length; i++) {
    for (const end = Math.min(length, i + after + 1); next < end; next++) {
      while (tail > head && at(queue[tail - 1]!) <= at(next)) tail--
      queue[tail++] = next
    }
    while (queue[head]! < i - before) head++
    to[start + i * stride] = sign * at(queue[head]!)
  }
}
