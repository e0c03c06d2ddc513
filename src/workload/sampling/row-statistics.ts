import { rowsOf } from '../tensor/rows.ts'
import { mapped, type Tensor } from '../tensor/tensor.ts'

/** Values of a row; every row's are next to each other. */
const strideOf = (t: Tensor) => t.data.length / rowsOf(t)

/** `Σ a·b` over each row of two tensors of one shape. */
export function rowProducts(a: Tensor, b: Tensor): Float64Array {
  const sums = new Float64Array(rowsOf(a))
  const stride = strideOf(a)
  for (let i = 0; i < a.data.length; i++) sums[Math.floor(i / stride)]! += a.data[i]! * b.data[i]!
  return sums
}

/** The Euclidean length of each row. */
export const rowNorms = (t: Tensor): Float64Array => rowProducts(t, t).map(Math.sqrt)

/** The standard deviation of each row's values, with Bessel's correction. */
export function rowDeviations(t: Tensor): Float64Array {
  const stride = strideOf(t)
  const means = new Float64Array(rowsOf(t))
  for (let i = 0; i < t.data.length; i++) means[Math.floor(i / stride)]! += t.data[i]! / stride
  const squares = new Float64Array(means.length)
  for (let i = 0; i < t.data.length; i++) {
    const row = Math.floor(i / stride)
    squares[row]! += (t.data[i]! - means[row]!) ** 2
  }
  return squares.map((sum) => Math.sqrt(sum / (stride - 1)))
}

/** Each row of `t` times the factor of its own. */
export function scaledRows(t: Tensor, factors: ArrayLike<number>): Tensor {
  const stride = strideOf(t)
  return mapped(t, (value, i) => value * factors[Math.floor(i / stride)]!)
}

/** `Σ a·b` over the channels at each cell of `[N, C, H, W]`: `[N, H, W]`. */
export function channelProducts(a: Tensor, b: Tensor): Float64Array {
  const [rows, channels] = a.dims as [number, number]
  const area = strideOf(a) / channels
  const sums = new Float64Array(rows * area)
  for (let i = 0; i < a.data.length; i++) sums[cellOf(i, channels, area)]! += a.data[i]! * b.data[i]!
  return sums
}

/** Each cell of `[N, C, H, W]` times the factor of its own, the same for all channels. */
export function scaledCells(t: Tensor, factors: ArrayLike<number>): Tensor {
  const [, channels] = t.dims as [number, number]
  const area = strideOf(t) / channels
  return mapped(t, (value, i) => value * factors[cellOf(i, channels, area)]!)
}

/** The place in `[N, H, W]` of a value of `[N, C, H, W]`. */
const cellOf = (i: number, channels: number, area: number) => Math.floor(i / (channels * area)) * area + (i % area)
