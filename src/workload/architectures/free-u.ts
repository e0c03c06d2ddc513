import type { Wire } from '../onnx/graph-builder.ts'
import { arithmeticOf } from './graph-arithmetic.ts'
import type { Lowering } from './lowering.ts'
import type { UnetAlteration } from './unet.ts'

export interface FreeUOptions {
  readonly version: 1 | 2
  /** Strength of the features where there are four times the network's first channels, and where there are two times. */
  readonly b1: number
  readonly b2: number
  /** What is left of the skip connection's lowest frequencies at those places. */
  readonly s1: number
  readonly s2: number
}

/**
 * FreeU (Si et al., 2023): in the decoder the first half of the features is scaled by b, the second version by as much
 * of it as the mean feature is strong at a pixel, and the lowest frequencies of the skip connection are scaled by s.
 */
export const freeU =
  ({ version, b1, b2, s1, s2 }: FreeUOptions): UnetAlteration =>
  (lowering, _x, { modelChannels }) => ({
    beforeJoin(h, skip, { channels }) {
      const [b, s] =
        channels === 4 * modelChannels ? [b1, s1] : channels === 2 * modelChannels ? [b2, s2] : [undefined, undefined]
      if (b === undefined || s === undefined) return { h, skip }
      const features = lowering.toImage(h)
      const scaled =
        version === 1 ? halfScaled(lowering, features, channels, b) : guided(lowering, features, channels, b)
      return {
        h: lowering.fromImage(scaled),
        skip: lowering.fromImage(lowFrequenciesScaled(lowering, lowering.toImage(skip), s)),
      }
    },
  })

/** The first half of the channels of `[N, C, H, W]` times `factor`. */
function halfScaled({ graph }: Lowering, x: Wire, channels: number, factor: number): Wire {
  const factors = Float32Array.from({ length: channels }, (_, i) => (i < channels / 2 ? factor : 1))
  return graph.op('Mul', [x, graph.constant([channels, 1, 1], factors)])
}

/** The first half of the channels times `(b - 1) · m + 1`, m the mean of all channels brought to 0 to 1 in each picture. */
function guided({ graph }: Lowering, x: Wire, channels: number, b: number): Wire {
  const { op } = graph
  const { subtract, divide, multiply, add, floats } = arithmeticOf(graph)
  const over = (type: string, from: Wire, ...axes: readonly number[]) => op(type, [from], { attributes: { axes } })
  const mean = over('ReduceMean', x, 1)
  const [least, most] = [over('ReduceMin', mean, 1, 2, 3), over('ReduceMax', mean, 1, 2, 3)]
  const strength = divide(subtract(mean, least), subtract(most, least))
  const half = Math.floor(channels / 2)
  const parts = graph.constant([2], BigInt64Array.of(BigInt(half), BigInt(channels - half)))
  const [first, second] = graph.ops('Split', [x, parts], 2, { attributes: { axis: 1 } }) as [Wire, Wire]
  const scaled = multiply(first, add(multiply(strength, floats(b - 1)), floats(1)))
  return op('Concat', [scaled, second], { attributes: { axis: 1 } })
}

/**
 * `x` `[N, C, H, W]` with the four lowest frequencies of its discrete Fourier transform, 0 and -1 along each axis,
 * scaled by `s`. Their share of x is taken out with a cosine and a sine along each axis: with the columns of U being
 * 1, cos(2πk/n) and sin(2πk/n), the projection along one axis is (UUᵀ - i·UKUᵀ)/n, K the quarter turn of the last two.
 */
function lowFrequenciesScaled({ graph }: Lowering, x: Wire, s: number): Wire {
  const { op, constant } = graph
  const { sizes, cast, divide, multiply, subtract, add, floats, range, matmul } = arithmeticOf(graph)
  /** Rows 1, cos, sin `[3, n]`; of a single pixel -1 is the frequency 0 again, and must not count twice. */
  const waves = (axis: number) => {
    const length = sizes(x, axis, axis + 1)
    const n = cast(length, 'float32')
    const angles = divide(multiply(cast(range(length), 'float32'), floats(2 * Math.PI)), n)
    const several = cast(op('Greater', [length, constant([1], BigInt64Array.of(1n))]), 'float32')
    const rows = [
      op('Cos', [multiply(angles, floats(0))]),
      multiply(op('Cos', [angles]), several),
      multiply(op('Sin', [angles]), several),
    ]
    const first = constant([1], BigInt64Array.of(0n))
    return op(
      'Concat',
      rows.map((row) => op('Unsqueeze', [row, first])),
      { attributes: { axis: 0 } },
    )
  }
  const turned = (matrix: Wire, ...perm: readonly number[]) => op('Transpose', [matrix], { attributes: { perm } })
  const [rows, columns] = [waves(2), waves(3)]
  const spectrum = matmul(matmul(rows, x), turned(columns, 1, 0))
  const quarter = constant([3, 3], Float32Array.of(0, 0, 0, 0, 0, -1, 0, 1, 0))
  const real = subtract(spectrum, matmul(matmul(quarter, spectrum), turned(quarter, 1, 0)))
  const area = cast(multiply(sizes(x, 2, 3), sizes(x, 3, 4)), 'float32')
  const low = divide(matmul(matmul(turned(rows, 1, 0), real), columns), area)
  return add(x, multiply(low, floats(s - 1)))
}
