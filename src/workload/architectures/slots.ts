import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import { cast, type StoredWeights } from './stored-weights.ts'

const transposed = { domain: 'com.microsoft', attributes: { transB: 1 } }

/** The names of a slot's inputs. */
export const slotInputs = (key: string) => ({ down: `${key} down`, up: `${key} up`, reach: `${key} reach` })

/**
 * Linear layers `x·Wᵀ + b` with a place for a low-rank change: `+ (x·downᵀ)·upᵀ` (LoRA, Hu et al. 2021), so that a new one
 * needs no new session. Where nothing is handed over, the change is worked out for the first token only, from noughts,
 * and joins the bias, which costs next to nothing.
 */
export function slottedLinear(
  graph: GraphBuilder,
  view: WeightView,
  weight: StoredWeights,
  plain: (x: Wire, key: string) => Wire,
  slots: (key: string) => boolean,
): (x: Wire, key: string) => Wire {
  const { op } = graph
  const index = (value: bigint) => graph.constant([1], BigInt64Array.of(value))
  const [first, tokens] = [index(0n), index(1n)]
  return (x, key) => {
    if (!slots(key)) return plain(x, key)
    const [out, inner] = view.get(`${key}.weight`).dims as [number, number]
    const names = slotInputs(key)
    const rank = `${key} rank`
    const down = graph.optional(names.down, [rank, inner], [1, inner], new Float32Array(inner))
    const up = graph.optional(names.up, [out, rank], [out, 1], new Float32Array(out))
    const reach = cast(graph, graph.optional(names.reach, [1], [1], Float32Array.of(1)), 'int64')
    const reached = op('Slice', [x, first, reach, tokens])
    const change = op('FusedMatMul', [op('FusedMatMul', [reached, down], transposed), up], transposed)
    const product = op('FusedMatMul', [x, weight(`${key}.weight`, [out, inner])], transposed)
    const bias = view.has(`${key}.bias`) ? weight(`${key}.bias`) : undefined
    return op('Add', [product, bias ? op('Add', [change, bias]) : change])
  }
}
