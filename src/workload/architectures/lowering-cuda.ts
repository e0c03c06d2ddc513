import { float } from '../onnx/attributes.ts'
import { createGraph, type Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import type { Lowering } from './lowering.ts'
import { common, GROUPS } from './lowering-common.ts'
import { cast, storedWeights } from './stored-weights.ts'

const microsoft = { domain: 'com.microsoft' }

/**
 * `type` and channels-last throughout, from the operators that ONNX Runtime's CUDA provider is fastest in. Group
 * norms keep float32 scales and shifts, as their kernel wants; inputs and outputs of the graph are float32 and NCHW.
 */
export function cudaLowering(name: string, view: WeightView, type: 'float16' | 'float32'): Lowering {
  const graph = createGraph(name, 'memory')
  const weight = storedWeights(graph, view, type)
  const exact = storedWeights(graph, view, 'float32')
  const shared = common(graph, view, weight)
  const { op } = graph
  const to = (x: Wire, wanted: 'float16' | 'float32') => (type === 'float32' ? x : cast(graph, x, wanted))
  const axes = (x: Wire, start: number, end: number) => op('Shape', [x], { attributes: { start, end } })
  const shape = (...parts: readonly Wire[]) => op('Concat', parts, { attributes: { axis: 0 } })
  const allPixels = graph.constant([1], BigInt64Array.of(-1n))

  return {
    ...shared,
    fromImage: (x) => op('Transpose', [to(x, type)], { attributes: { perm: [0, 2, 3, 1] } }),
    toImage: (x) => to(op('Transpose', [x], { attributes: { perm: [0, 3, 1, 2] } }), 'float32'),
    fromTokens: (x) => to(x, type),
    toTokens: (x) => to(x, 'float32'),
    conv(x, key, { stride = 1, padding } = {}) {
      const side = view.get(`${key}.weight`).dims[2] ?? 1
      const pads = padding ?? Array.from({ length: 4 }, () => (side - 1) / 2)
      const bias = view.has(`${key}.bias`) ? weight(`${key}.bias`) : undefined
      return op('NhwcConv', [x, weight.channelsLast(`${key}.weight`), bias], {
        ...microsoft,
        attributes: { kernel_shape: [side, side], strides: [stride, stride], pads },
      })
    },
    groupNorm: (x, key, epsilon, activation) =>
      op('GroupNorm', [x, exact(`${key}.weight`), exact(`${key}.bias`)], {
        ...microsoft,
        attributes: { groups: GROUPS, activation: activation ? 1 : 0, epsilon: float(epsilon), channels_last: 1 },
      }),
    prelu: (x, key) => op('PRelu', [x, weight(`${key}.weight`)]),
    addVector: (x, vector) => op('Add', [x, shared.unsqueeze(vector, 1, 2)]),
    concat: (a, b) => op('Concat', [a, b], { attributes: { axis: 3 } }),
    upsample(x, like) {
      const attributes = { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' }
      if (!like) return op('Resize', [x, undefined, graph.constant([4], Float32Array.of(1, 2, 2, 1))], { attributes })
      return op('Resize', [x, undefined, undefined, shape(axes(x, 0, 1), axes(like, 1, 3), axes(x, 3, 4))], {
        attributes,
      })
    },
    flatten: (x) => op('Reshape', [x, shape(axes(x, 0, 1), allPixels, axes(x, 3, 4))]),
    unflatten: (tokens, like) => op('Reshape', [tokens, shape(axes(like, 0, 3), axes(tokens, 2, 3))]),
  }
}
