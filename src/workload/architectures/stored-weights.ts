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

/**
 * Weights as initializers that stay in their file, cast to `type` where they are stored in another.
 * `through` first rounds them to a narrower type. `dims` may restate a shape with the same number of values, which
 * saves a reshape: `[C]` → `[C, 1, 1]`.
 */
export function storedWeights(graph: GraphBuilder, view: WeightView, type: ElementType, through?: ElementType) {
  const made = new Map<string, Wire>()
  return (key: string, dims: readonly number[] = view.get(key).dims): Wire => {
    const name = `${key}[${dims}]`
    const known = made.get(name)
    if (known) return known
    const { dtype, ...slice } = view.get(key)
    const stored = elementTypes[dtype]
    if (!stored) throw new WorkloadError('execution-failed', `weights ${key} have the type ${dtype}, which is not read`)
    let wire = graph.external(key, stored, dims, slice)
    let at = stored
    for (const next of [through, type]) {
      if (next === undefined || next === at) continue
      wire = cast(graph, wire, next)
      at = next
    }
    made.set(name, wire)
    return wire
  }
}
