import { WorkloadError } from '../base/errors.ts'
import { dataType, type ElementType } from '../onnx/data-type.ts'
import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import { changedWeight, type StoredAs } from './changed-weight.ts'

const elementTypes: Readonly<Record<string, ElementType>> = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
  F64: 'float64',
  F8_E4M3: 'float8e4m3',
  F8_E5M2: 'float8e5m2',
}

/** Smaller weights are never worth casting at every run. */
const LARGE = 1 << 14

/** A Cast; of a constant ONNX Runtime folds it when the session is opened, so it costs nothing per run. */
export const cast = (graph: Pick<GraphBuilder, 'op'>, x: Wire, to: ElementType): Wire =>
  graph.op('Cast', [x], { attributes: { to: dataType[to] } })

/** `graph` for operators over weights alone. */
const overWeights = (graph: GraphBuilder): GraphBuilder => ({
  ...graph,
  op: (type, inputs, options) => graph.op(type, inputs, { ...options, ofWeights: true }),
})

/** Makes initializers of a network's weights, each once, in one element type, with the changes made to them. */
export interface StoredWeights {
  /** `dims` may restate a shape with the same number of values, which saves a reshape: `[C]` → `[C, 1, 1]`. */
  (key: string, dims?: readonly number[]): Wire
  /** A convolution's `[O, I, H, W]` as `[O, H, W, I]`, rearranged when the session is opened. */
  channelsLast(key: string): Wire
  /** The rows of a table at `ids`, cast behind the look-up: a table may be large and its rows few. */
  rows(key: string, ids: Wire): Wire
}

export interface StoringOptions {
  /** A narrower type that the weights are rounded to first. */
  readonly through?: ElementType | undefined
  /** As in `LoweringOptions`. */
  readonly stored?: 'linear' | 'all' | undefined
}

/** Weights as initializers that stay in their file, cast to `type` where they are stored in another. */
export function storedWeights(
  network: GraphBuilder,
  view: WeightView,
  type: ElementType,
  { through, stored }: StoringOptions = {},
): StoredWeights {
  const graph = overWeights(network)
  const made = new Map<string, Wire>()
  const remembered = (name: string, make: () => Wire): Wire => {
    const wire = made.get(name) ?? make()
    made.set(name, wire)
    return wire
  }
  const casts = (wire: Wire, from: ElementType, on = graph): Wire =>
    [through, type].reduce(
      (last, step) => (step === undefined || step === last.type ? last : { at: cast(on, last.at, step), type: step }),
      { at: wire, type: from },
    ).at
  const isOpen = (dims: readonly number[]) =>
    dims.reduce((product, dim) => product * dim, 1) >= LARGE &&
    (stored === 'all' || (stored === 'linear' && dims.length === 2))
  const initializer: StoredAs = (name, tensor, dims, open) =>
    graph.external(name, elementTypeOf(name, tensor.dtype), dims, tensor, open ?? isOpen(dims))
  const inFloat32: StoredAs = (name, tensor, dims, open) => {
    const wire = initializer(name, tensor, dims, open)
    return tensor.dtype === 'F32' ? wire : cast(graph, wire, 'float32')
  }
  /** A weight with changes, in float32 and its own shape. */
  const changed = (key: string): Wire =>
    remembered(`${key} changed`, () => changedWeight(graph, key, view.get(key), inFloat32, stored === 'all'))
  const isChanged = (key: string) => (view.get(key).changes ?? []).length > 0
  /** The same under another shape. */
  const changedAs = (key: string, dims: readonly number[]): Wire => {
    if (view.get(key).dims.join() === dims.join()) return changed(key)
    return graph.op('Reshape', [changed(key), graph.constant([dims.length], BigInt64Array.from(dims, BigInt))])
  }

  const whole = (key: string, dims = view.get(key).dims) =>
    remembered(`${key}[${dims}]`, () => {
      if (isChanged(key)) return casts(changedAs(key, dims), 'float32')
      const weight = view.get(key)
      return casts(initializer(key, weight, dims), elementTypeOf(key, weight.dtype))
    })
  const channelsLast = (key: string) =>
    remembered(`${key} channels last`, () => {
      const weight = view.get(key)
      const kernel = [...weight.dims, 1, 1].slice(0, 4)
      if (isChanged(key)) {
        const perm = [0, 2, 3, 1]
        return casts(graph.op('Transpose', [changedAs(key, kernel)], { attributes: { perm } }), 'float32')
      }
      const type = elementTypeOf(key, weight.dtype)
      return casts(graph.channelsLast(key, type, weight), type)
    })
  const rows = (key: string, ids: Wire) => {
    if (isChanged(key)) return casts(network.op('Gather', [changed(key), ids]), 'float32', network)
    const weight = view.get(key)
    const table = graph.external(key, elementTypeOf(key, weight.dtype), weight.dims, weight)
    return casts(network.op('Gather', [table, ids]), elementTypeOf(key, weight.dtype), network)
  }
  return Object.assign(whole, { channelsLast, rows })
}

function elementTypeOf(name: string, dtype: string): ElementType {
  const stored = elementTypes[dtype]
  if (stored) return stored
  throw new WorkloadError('execution-failed', `weights ${name} have the type ${dtype}, which is not read`)
}
