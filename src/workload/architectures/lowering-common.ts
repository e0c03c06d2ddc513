import { float } from '../onnx/attributes.ts'
import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import type { Lowering } from './lowering.ts'
import type { StoredWeights } from './stored-weights.ts'

/** Groups of every group normalisation in these networks. */
export const GROUPS = 32

const microsoft = { domain: 'com.microsoft' }

/** Layers over tokens and vectors: the operators that both execution providers have kernels for. */
export function common(graph: GraphBuilder, view: WeightView, weight: StoredWeights) {
  const { op, ops } = graph
  const gelu = (x: Wire): Wire => op('Gelu', [x], microsoft)
  const layers = {
    graph,
    weight: (key) => weight(key),
    lookup: (key, ids) => weight.rows(key, ids),
    layerNorm: (x, key) =>
      op('LayerNormalization', [x, weight(`${key}.weight`), weight(`${key}.bias`)], {
        attributes: { epsilon: float(1e-5) },
      }),
    linear(x, key) {
      const [out, inner] = view.get(`${key}.weight`).dims as [number, number] // of a 1×1 convolution as well
      // The checkpoint's [out, in] as it is stored, without a transposed copy.
      const product = op('FusedMatMul', [x, weight(`${key}.weight`, [out, inner])], {
        ...microsoft,
        attributes: { transB: 1 },
      })
      return view.has(`${key}.bias`) ? op('Add', [product, weight(`${key}.bias`)]) : product
    },
    add: (a, b) => op('Add', [a, b]),
    silu: (x) => op('QuickGelu', [x], { ...microsoft, attributes: { alpha: float(1) } }),
    gelu,
    quickGelu: (x) => op('QuickGelu', [x], { ...microsoft, attributes: { alpha: float(1.702) } }),
    gatedGelu(x) {
      const [value, gate] = ops('Split', [x], 2, { attributes: { axis: -1 } }) as [Wire, Wire]
      return op('Mul', [value, gelu(gate)])
    },
    attention: (q, k, v, heads, { causal = false } = {}) =>
      op('MultiHeadAttention', [q, k, v], {
        ...microsoft,
        attributes: { num_heads: heads, unidirectional: causal ? 1 : 0 },
      }),
  } satisfies Partial<Lowering>
  const unsqueeze = (x: Wire, ...axes: readonly number[]) =>
    op('Unsqueeze', [x, graph.constant([axes.length], BigInt64Array.from(axes, BigInt))])
  return { ...layers, unsqueeze }
}
