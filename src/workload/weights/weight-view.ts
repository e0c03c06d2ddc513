import { WorkloadError } from '../base/errors.ts'
import type { SafetensorsFile, StoredTensor } from './safetensors.ts'

/** A stored tensor and the file it lies in. */
export interface Weight extends StoredTensor {
  readonly path: string
}

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
      return { ...stored, path: file.path }
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
