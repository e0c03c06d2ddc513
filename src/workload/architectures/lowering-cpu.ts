import { float } from '../onnx/attributes.ts'
import type { ElementType } from '../onnx/data-type.ts'
import { createGraph, type Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import type { Lowering, LoweringOptions } from './lowering.ts'
import { common, GROUPS } from './lowering-common.ts'
import { slottedLinear } from './slots.ts'
import { storedWeights } from './stored-weights.ts'

/**
 * float32 and NCHW throughout, from operators that ONNX Runtime's CPU provider has kernels for.
 * `rounding` first rounds the weights to a narrower type, as the reference does with text encoders.
 */
export function cpuLowering(
  name: string,
  view: WeightView,
  { stored, slots }: LoweringOptions = {},
  rounding?: ElementType,
): Lowering {
  const graph = createGraph(name)
  const weight = storedWeights(graph, view, 'float32', { through: rounding, stored })
  const shared = common(graph, view, weight)
  const { op } = graph
  const shapeOf = (x: Wire) => op('Shape', [x])
  const unit = graph.constant([GROUPS], new Float32Array(GROUPS).fill(1))
  const nought = graph.constant([GROUPS], new Float32Array(GROUPS))
  const grouped = graph.constant([3], BigInt64Array.of(0n, BigInt(GROUPS), -1n))
  const pixelsLast = graph.constant([3], BigInt64Array.of(0n, 0n, -1n))
  const batchAndChannels = { attributes: { start: 0, end: 2 } }
  const heightAndWidth = { attributes: { start: 2, end: 4 } }

  return {
    ...shared,
    ...(slots && { linear: slottedLinear(graph, view, weight, shared.linear, slots) }),
    fromImage: (x) => x,
    toImage: (x) => x,
    fromTokens: (x) => x,
    toTokens: (x) => x,
    conv(x, key, { stride = 1, padding } = {}) {
      const { dims } = view.get(`${key}.weight`)
      const side = dims[2] ?? 1
      const pads = padding ?? Array.from({ length: 4 }, () => (side - 1) / 2)
      const bias = view.has(`${key}.bias`) ? weight(`${key}.bias`) : undefined
      return op('Conv', [x, weight(`${key}.weight`, [dims[0]!, dims[1]!, side, side]), bias], {
        attributes: { kernel_shape: [side, side], strides: [stride, stride], pads },
      })
    },
    groupNorm(x, key, epsilon, activation) {
      const channels = view.get(`${key}.weight`).dims[0]!
      const normalised = op('InstanceNormalization', [op('Reshape', [x, grouped]), unit, nought], {
        attributes: { epsilon: float(epsilon) },
      })
      const shaped = op('Reshape', [normalised, shapeOf(x)])
      const scaled = op('Mul', [shaped, weight(`${key}.weight`, [channels, 1, 1])])
      const shifted = op('Add', [scaled, weight(`${key}.bias`, [channels, 1, 1])])
      return activation ? shared.silu(shifted) : shifted
    },
    prelu: (x, key) => op('PRelu', [x, weight(`${key}.weight`, [view.get(`${key}.weight`).dims[0]!, 1, 1])]),
    addVector: (x, vector) => op('Add', [x, shared.unsqueeze(vector, 2, 3)]),
    concat: (a, b) => op('Concat', [a, b], { attributes: { axis: 1 } }),
    upsample(x, like) {
      const attributes = { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' }
      if (!like) return op('Resize', [x, undefined, graph.constant([4], Float32Array.of(1, 1, 2, 2))], { attributes })
      const size = op('Concat', [op('Shape', [x], batchAndChannels), op('Shape', [like], heightAndWidth)], {
        attributes: { axis: 0 },
      })
      return op('Resize', [x, undefined, undefined, size], { attributes })
    },
    flatten: (x) => op('Transpose', [op('Reshape', [x, pixelsLast])], { attributes: { perm: [0, 2, 1] } }),
    unflatten(tokens, like) {
      const channelsFirst = op('Transpose', [tokens], { attributes: { perm: [0, 2, 1] } })
      const shape = op(
        'Concat',
        [op('Shape', [channelsFirst], batchAndChannels), op('Shape', [like], heightAndWidth)],
        {
          attributes: { axis: 0 },
        },
      )
      return op('Reshape', [channelsFirst, shape])
    },
  }
}
