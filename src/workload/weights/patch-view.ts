import type { WeightChange } from './weight-change.ts'
import type { Weight, WeightView } from './weight-view.ts'

/** Changes to a network's weights, by the names its architecture knows; each of its weight's own size. */
export type WeightChanges = ReadonlyMap<string, readonly WeightChange[]>

/** `view` with `changes` behind those that its weights already have. */
export function patchedView(view: WeightView, changes: WeightChanges): WeightView {
  return {
    has: view.has,
    names: view.names,
    get(name): Weight {
      const weight = view.get(name)
      const more = changes.get(name) ?? []
      return more.length === 0 ? weight : { ...weight, changes: [...(weight.changes ?? []), ...more] }
    },
  }
}
