import { WorkloadError } from '../base/errors.ts'
import type { SafetensorsFile } from './safetensors.ts'
import type { ChangedTensor } from './weight-change.ts'

/** A stored tensor as a network wants it. */
export type Weight = ChangedTensor

/** The tensors of one network under the names its architecture knows, wherever and however they are stored. */
export interface WeightView {
  has(name: string): boolean
  /** Throws `execution-failed` that names the tensor when it is missing. */
  get(name: string): Weight
  readonly names: readonly string[]
}

/** The tensors of `file` whose names begin with `prefix`, without it. */
export function viewOf(file: SafetensorsFile, prefix: string): WeightView {
  const renamed = new Map<string, string>()
  for (const name of file.tensors.keys()) if (name.startsWith(prefix)) renamed.set(name.slice(prefix.length), name)
  return viewThrough(file, renamed)
}

/** The tensors of `file` that `names` maps to (architecture's name → stored name). */
export function viewThrough(file: SafetensorsFile, names: ReadonlyMap<string, string>): WeightView {
  return {
    has: (name) => names.has(name),
    get(name) {
      const stored = file.tensors.get(names.get(name) ?? '')
      if (!stored) throw new WorkloadError('execution-failed', `${file.path} has no weights ${name}`)
      return stored
    },
    names: [...names.keys()],
  }
}

/** A view over `weights` themselves; `source` names where they came from in errors. */
export function viewOver(weights: ReadonlyMap<string, Weight>, source: string): WeightView {
  return {
    has: (name) => weights.has(name),
    get(name) {
      const weight = weights.get(name)
      if (!weight) throw new WorkloadError('execution-failed', `${source} has no weights ${name}`)
      return weight
    },
    names: [...weights.keys()],
  }
}

/** `view` under other names (architecture's name → its name); `reshape` may restate the shape of what a name stands for. */
export function renamed(
  view: WeightView,
  names: ReadonlyMap<string, string>,
  reshape: (name: string, dims: readonly number[]) => readonly number[] = (_, dims) => dims,
): WeightView {
  return {
    has: (name) => names.has(name),
    get(name) {
      const stored = view.get(names.get(name) ?? name)
      return { ...stored, dims: reshape(name, stored.dims) }
    },
    names: [...names.keys()],
  }
}

/** What the tensors of `view` occupy in their files. */
export function bytesOf(view: WeightView): number {
  return view.names.reduce((sum, name) => sum + view.get(name).length, 0)
}

/** How many of `prefix0.`, `prefix1.` … there are without a gap. */
export function countOf(view: WeightView, prefix: string): number {
  let count = 0
  while (view.names.some((name) => name.startsWith(`${prefix}${count}.`))) count++
  return count
}
