import { joinedAlong } from './axes.ts'
import { repeatRows, rowsOf } from './rows.ts'
import { type Tensor, tensor } from './tensor.ts'

/** Feature maps of one size with their channels one behind the other; where `b` has fewer rows they are repeated. */
export function joinChannels(a: Tensor, b: Tensor): Tensor {
  return joinedAlong([a, repeatRows(b, rowsOf(a))], 1)
}

/** `[N, H, W, C]` → `[N, C, H, W]`: how images become what kernels work on. */
export function channelsFirst(t: Tensor): Tensor {
  const [rows, height, width, channels] = t.dims as [number, number, number, number]
  return tensor([rows, channels, height, width], transposed(t.data, rows, height * width, channels))
}

/** `[N, C, H, W]` → `[N, H, W, C]`. */
export function channelsLast(t: Tensor): Tensor {
  const [rows, channels, height, width] = t.dims as [number, number, number, number]
  return tensor([rows, height, width, channels], transposed(t.data, rows, channels, height * width))
}

/** `[rows, m, n]` → `[rows, n, m]` */
function transposed(from: Float32Array, rows: number, m: number, n: number): Float32Array {
  const to = new Float32Array(from.length)
  for (let row = 0; row < rows; row++) {
    const start = row * m * n
    for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) to[start + j * m + i] = from[start + i * n + j]!
  }
  return to
}
