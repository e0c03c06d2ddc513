import { float } from '../onnx/attributes.ts'
import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import { arithmeticOf } from './graph-arithmetic.ts'

/** The kernels that pictures inside a graph are resized with, by ComfyUI's names. */
export const graphResizeMethods = ['nearest-exact', 'bilinear', 'area', 'bicubic'] as const

export type GraphResizeMethod = (typeof graphResizeMethods)[number]

const interpolations = {
  bilinear: { mode: 'linear' },
  bicubic: { mode: 'cubic', cubic_coeff_a: float(-0.75) },
} as const

/** Float32 `[N, C, H, W]` → `[N, C, h, w]`; `size` is `[h, w]`, int64. */
export function resizedInGraph(graph: GraphBuilder, x: Wire, size: Wire, method: GraphResizeMethod): Wire {
  if (method === 'nearest-exact') return nearest(graph, x, size)
  if (method === 'area') return averagedTo(graph, x, size)
  const { sizes, joined } = arithmeticOf(graph)
  return graph.op('Resize', [x, undefined, undefined, joined(sizes(x, 0, 2), size)], {
    attributes: { ...interpolations[method], coordinate_transformation_mode: 'half_pixel' },
  })
}

/** Of each place of the result, the value at `floor((i + 1/2) · in / out)`. */
function nearest(graph: GraphBuilder, x: Wire, size: Wire): Wire {
  const { op } = graph
  const { sizes, cast, add, multiply, divide, floats, range } = arithmeticOf(graph)
  const along = (axis: 0 | 1, from: Wire) => {
    const [length, wanted] = [sizes(x, axis + 2, axis + 3), part(graph, size, axis)]
    const step = divide(cast(length, 'float32'), cast(wanted, 'float32'))
    const place = op('Floor', [multiply(add(cast(range(wanted), 'float32'), floats(0.5)), step)])
    return op('Gather', [from, cast(place, 'int64')], { attributes: { axis: axis + 2 } })
  }
  return along(1, along(0, x))
}

/** The mean over `[floor(i · in / out), ceil((i + 1) · in / out))` of each axis, as a product with a matrix on each side. */
function averagedTo(graph: GraphBuilder, x: Wire, size: Wire): Wire {
  const { op } = graph
  const { sizes, cast, add, subtract, multiply, divide, ints, range, matmul } = arithmeticOf(graph)
  /** `[out, in]` */
  const weights = (axis: 0 | 1) => {
    const [length, wanted] = [sizes(x, axis + 2, axis + 3), part(graph, size, axis)]
    const places = op('Unsqueeze', [range(wanted), ints(1)])
    const start = divide(multiply(places, length), wanted)
    const end = divide(add(multiply(add(places, ints(1)), length), subtract(wanted, ints(1))), wanted)
    const own = range(length)
    const within = op('And', [op('GreaterOrEqual', [own, start]), op('Less', [own, end])])
    return divide(cast(within, 'float32'), cast(subtract(end, start), 'float32'))
  }
  const columns = op('Transpose', [weights(1)], { attributes: { perm: [1, 0] } })
  return matmul(matmul(weights(0), x), columns)
}

/** Entry `i` of a vector, as `[1]`. */
function part({ op, constant }: GraphBuilder, vector: Wire, i: number): Wire {
  return op('Gather', [vector, constant([1], BigInt64Array.of(BigInt(i)))])
}
