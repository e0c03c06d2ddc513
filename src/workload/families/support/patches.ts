import { createHash } from 'node:crypto'
import { WorkloadError } from '../../base/errors.ts'
import { type AppliedPatch, noPatch, type WeightPatch } from '../../model/patches.ts'
import { sizeOf } from '../../tensor/tensor.ts'
import type { LayerNames } from '../../weights/lora-names.ts'
import type { WeightChanges } from '../../weights/patch-view.ts'
import { deltaSize, type WeightChange } from '../../weights/weight-change.ts'
import type { WeightView } from '../../weights/weight-view.ts'

/** A network whose weights are to be changed. */
export interface Patchable {
  readonly view: WeightView
  /** Which encoder it is, or the diffusion network. */
  readonly part: 'network' | 'l' | 'g' | 'h'
  /** The names that files may have for its layers. */
  readonly names: LayerNames
}

/** What a patch adds to one weight, before anybody said how strongly. */
export type Addition = Pick<WeightChange, 'delta' | 'scale' | 'dora'>

/** A patch as networks whose weights are read here understand it. */
export interface ReadablePatch extends WeightPatch {
  /** By the names of `of`'s weights. */
  additions(of: Patchable): ReadonlyMap<string, readonly Addition[]>
}

const isReadable = (patch: WeightPatch): patch is ReadablePatch => 'additions' in patch

/**
 * What `applied` does to the weights of `part`, in order. What is of another size than its weight, or for a weight that
 * there is not, is left out. Throws `execution-failed` for a patch that is made elsewhere.
 */
export function weightChanges(part: Patchable, applied: readonly AppliedPatch[]): WeightChanges {
  const changes = new Map<string, WeightChange[]>()
  for (const { patch, strength, kept = 1, where } of applied) {
    for (const [name, additions] of additionsOf(part, patch)) {
      if (!part.view.has(name) || (where && !where.test(name))) continue
      const size = sizeOf(part.view.get(name).dims)
      const fitting = additions.filter(({ delta }) => !delta || deltaSize(delta) === size)
      // The weight is multiplied once, before the first of what is added.
      const made = fitting.map((each, i) => ({ ...each, strength, kept: i === 0 ? kept : 1 }))
      if (made.length > 0) changes.set(name, [...(changes.get(name) ?? []), ...made])
    }
  }
  return changes
}

function additionsOf(part: Patchable, patch: WeightPatch): ReadonlyMap<string, readonly Addition[]> {
  if (patch === noPatch) return new Map(part.view.names.map((name) => [name, [{ scale: 1 }]]))
  if (isReadable(patch)) return patch.additions(part)
  throw new WorkloadError('execution-failed', 'this patch is for another kind of network')
}

/** Names what `applied` does: equal names, equal changes. Empty for none. */
export function patchesName(applied: readonly AppliedPatch[]): string {
  if (applied.length === 0) return ''
  const told = applied.map(({ patch, strength, kept = 1, where }) => [patch.key, strength, kept, where?.source ?? ''])
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16)
}

/** The weights of `parts` as a patch; `key` names them with whatever was changed of them. */
export function weightsAsPatch(key: string, parts: readonly Pick<Patchable, 'part' | 'view'>[]): ReadablePatch {
  return {
    key: `weights of ${key}`,
    additions({ part, view: onto }) {
      const view = parts.find((each) => each.part === part)?.view
      const shared = view ? view.names.filter((name) => onto.has(name)) : []
      return new Map(shared.map((name) => [name, [{ delta: { kind: 'full', values: view!.get(name) }, scale: 1 }]]))
    },
  }
}
