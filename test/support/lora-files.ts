import { sizeOf, type Tensor, tensor } from '../../src/workload/tensor/tensor.ts'
import { randomWeights, type Weights } from './random-checkpoints.ts'

/** Random tensors of these shapes, each times `scale`. */
export function drawn(shapes: Readonly<Record<string, readonly number[]>>, scale = 1): Weights {
  const made = Object.entries(randomWeights(shapes))
  return Object.fromEntries(
    made.map(([name, { dims, data }]) => [
      name,
      tensor(
        dims,
        data.map((x) => x * scale),
      ),
    ]),
  )
}

/** One number. */
export const scalar = (value: number): Tensor => tensor([], Float32Array.of(value))

/** Rows and columns in double precision. */
export interface Matrix {
  readonly rows: number
  readonly columns: number
  at(row: number, column: number): number
}

/** A tensor's first axis by all the others. */
export function matrix({ dims, data }: Tensor): Matrix {
  const rows = dims[0]!
  const columns = sizeOf(dims) / rows
  return { rows, columns, at: (row, column) => data[row * columns + column]! }
}

/** `a · b`, worked out once. */
export function product(a: Matrix, b: Matrix): Matrix {
  const values = new Float64Array(a.rows * b.columns)
  for (let row = 0; row < a.rows; row++)
    for (let column = 0; column < b.columns; column++)
      for (let i = 0; i < a.columns; i++) values[row * b.columns + column]! += a.at(row, i) * b.at(i, column)
  return { rows: a.rows, columns: b.columns, at: (row, column) => values[row * b.columns + column]! }
}

/** `weight` with `factor · delta` added, value by value in the order in which both are stored. */
export function added(weight: Tensor, delta: Matrix, factor: number): Tensor {
  const values = weight.data.map((w, i) => w + factor * delta.at(Math.floor(i / delta.columns), i % delta.columns))
  return tensor(weight.dims, values)
}

/** How far `a` is from `b` at worst, in units of the largest value of `b`. */
export function relative(a: Tensor, b: Tensor): number {
  let [worst, largest] = [0, 0]
  for (const [i, value] of b.data.entries()) {
    worst = Math.max(worst, Math.abs(a.data[i]! - value))
    largest = Math.max(largest, Math.abs(value))
  }
  return worst / largest
}
