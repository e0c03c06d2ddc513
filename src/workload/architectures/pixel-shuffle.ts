import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import { arithmeticOf } from './graph-arithmetic.ts'

/** `[N, C, H·r, W·r]` → `[N, C·r², H, W]`: of each channel first the pixels of a block, rows first (Shi et al., 2016, turned round). */
export function pixelUnshuffle(graph: GraphBuilder, x: Wire, channels: number, r: number): Wire {
  const { sizes, joined, divide, ints, reshape } = arithmeticOf(graph)
  const side = ints(r)
  const [rows, height, width] = [sizes(x, 0, 1), divide(sizes(x, 2, 3), side), divide(sizes(x, 3, 4), side)]
  const blocks = reshape(x, joined(rows, ints(channels), height, side, width, side))
  const pixels = graph.op('Transpose', [blocks], { attributes: { perm: [0, 1, 3, 5, 2, 4] } })
  return reshape(pixels, joined(rows, ints(channels * r * r), height, width))
}

/** `[N, C·r², H, W]` → `[N, C, H·r, W·r]` (Shi et al., 2016). */
export function pixelShuffle(graph: GraphBuilder, x: Wire, r: number): Wire {
  return graph.op('DepthToSpace', [x], { attributes: { blocksize: r, mode: 'CRD' } })
}
