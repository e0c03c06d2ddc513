import type { ElementType } from '../onnx/data-type.ts'
import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import { cast } from './stored-weights.ts'

/** Arithmetic on wires, for what is computed beside the layers: sizes, indices, pictures in float32. */
export interface GraphArithmetic {
  /** Whole numbers, `[length]` int64. */
  ints(...values: readonly number[]): Wire
  /** Float32 `[length]`. */
  floats(...values: readonly number[]): Wire
  add(a: Wire, b: Wire): Wire
  subtract(a: Wire, b: Wire): Wire
  multiply(a: Wire, b: Wire): Wire
  /** Whole numbers are divided without rest. */
  divide(a: Wire, b: Wire): Wire
  matmul(a: Wire, b: Wire): Wire
  cast(x: Wire, to: ElementType): Wire
  /** The lengths of axes `start` up to but not including `end` of `x`, `[end - start]` int64. */
  sizes(x: Wire, start: number, end: number): Wire
  /** Vectors joined to one. */
  joined(...parts: readonly Wire[]): Wire
  reshape(x: Wire, shape: Wire): Wire
  /** `0, 1 … length - 1` as int64; `length` is `[1]`. */
  range(length: Wire): Wire
}

/** The arithmetic of the graph under construction. */
export function arithmeticOf({ op, constant }: Pick<GraphBuilder, 'op' | 'constant'>): GraphArithmetic {
  const ints = (...values: readonly number[]) => constant([values.length], BigInt64Array.from(values, BigInt))
  const scalar = (value: bigint) => constant([], BigInt64Array.of(value))
  return {
    ints,
    floats: (...values) => constant([values.length], Float32Array.from(values)),
    add: (a, b) => op('Add', [a, b]),
    subtract: (a, b) => op('Sub', [a, b]),
    multiply: (a, b) => op('Mul', [a, b]),
    divide: (a, b) => op('Div', [a, b]),
    matmul: (a, b) => op('MatMul', [a, b]),
    cast: (x, to) => cast({ op }, x, to),
    sizes: (x, start, end) => op('Shape', [x], { attributes: { start, end } }),
    joined: (...parts) => op('Concat', parts, { attributes: { axis: 0 } }),
    reshape: (x, shape) => op('Reshape', [x, shape]),
    range: (length) => op('Range', [scalar(0n), op('Squeeze', [length]), scalar(1n)]),
  }
}
