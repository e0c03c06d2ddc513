import { WorkloadError } from '../base/errors.ts'
import { dataType, type ElementType } from '../onnx/data-type.ts'
import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'

const elementTypes: Readonly<Record<string, ElementType>> = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
  F64: 'float64',
  F8_E4M3: 'float8e4m3',
  F8_E5M2: 'float8e5m2',
}

/** A Cast; of a constant ONNX Runtime folds it when the session is opened, so it costs nothing per run. */
export const cast = (graph: GraphBuilder, x: Wire, to: ElementType): Wire =>
  graph.op('Cast', [x], { attributes: { to: dataType[to] } })

/** Makes initializers of a network's weights, each once, in one element type. */
export interface StoredWeights {
  /** `dims` may restate a shape with the same number of values, which saves a reshape: `[C]` → `[C, 1, 1]`. */
  (key: string, dims?: readonly number[]): Wire
  /** A convolution's `[O, I, H, W]` as `[O, H, W, I]`, rearranged when the session is opened. */
  channelsLast(key: string): Wire
  /** The rows of a table at `ids`, cast behind the look-up: a table may be large and its rows few. */
  rows(key: string, ids: Wire): Wire
}

/**
 * Weights as initializers that stay in their file, cast to `type` where they are stored in another.
 * `through` first rounds them to a narrower type.
 */
export function storedWeights(
  graph: GraphBuilder,
  view: WeightView,
  type: ElementType,
  through?: ElementType,
): StoredWeights {
  const made = new Map<string, Wire>()
  const remembered = (name: string, make: () => Wire): Wire => {
    const wire = made.get(name) ?? make()
    made.set(name, wire)
    return wire
  }
  const typeOf = (key: string): ElementType => {
    const { dtype } = view.get(key)
    const stored = elementTypes[dtype]
    if (!stored) throw new WorkloadError('execution-failed', `weights ${key} have the type ${dtype}, which is not read`)
    return stored
  }
  const casts = (wire: Wire, stored: ElementType): Wire => {
    const steps = [through, type].filter((step) => step !== undefined)
    return steps.reduce(
      ({ at, from }, step) => (step === from ? { at, from } : { at: cast(graph, at, step), from: step }),
      {
        at: wire,
        from: stored,
      },
    ).at
  }
  const stored = (key: string, dims = view.get(key).dims) =>
    remembered(`${key}[${dims}]`, () => casts(graph.external(key, typeOf(key), dims, view.get(key)), typeOf(key)))
  const channelsLast = (key: string) =>
    remembered(`${key} channels last`, () => casts(graph.channelsLast(key, typeOf(key), view.get(key)), typeOf(key)))
  const rows = (key: string, ids: Wire) => {
    const table = graph.external(key, typeOf(key), view.get(key).dims, view.get(key))
    return casts(graph.op('Gather', [table, ids]), typeOf(key))
  }
  return Object.assign(stored, { channelsLast, rows })
}
