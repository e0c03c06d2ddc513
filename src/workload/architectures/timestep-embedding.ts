import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'

/**
 * Sinusoids of timesteps `[N]` → float32 `[N, width]`, cosines first (Vaswani et al., 2017, with diffusion's order):
 * frequencies `exp(-ln(10000) · k / half)`.
 */
export function timestepEmbedding(graph: GraphBuilder, timesteps: Wire, width: number): Wire {
  const half = width / 2
  const frequencies = Float32Array.from({ length: half }, (_, k) => Math.exp((-Math.log(10_000) * k) / half))
  const column = graph.op('Unsqueeze', [timesteps, graph.constant([1], BigInt64Array.of(1n))])
  const angles = graph.op('Mul', [column, graph.constant([1, half], frequencies)])
  return graph.op('Concat', [graph.op('Cos', [angles]), graph.op('Sin', [angles])], { attributes: { axis: 1 } })
}
