import type { LoweringFor, LoweringOptions } from '../../architectures/lowering.ts'
import type { AppliedPatch } from '../../model/patches.ts'
import type { SharedTensors } from '../../runtime/session.ts'
import { sizeOf } from '../../tensor/tensor.ts'
import { unetLayerNames } from '../../weights/lora-names.ts'
import { patchedView, type WeightChanges } from '../../weights/patch-view.ts'
import type { WeightChange } from '../../weights/weight-change.ts'
import type { WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { lowRankChanges, slotsOf, slotTensors } from './low-rank.ts'
import { patchesName, weightChanges } from './patches.ts'

/** A UNet's weights with its patches, as its graphs are to be made of them. */
export interface UnetWeights {
  /** Equal keys share a session. */
  readonly key: string
  /** Changed weights are a variant of these. */
  readonly variantOf: string | undefined
  readonly view: WeightView
  readonly lower: LoweringFor
  /** What is handed over at every run beside the rows. */
  shared(): Promise<SharedTensors | undefined>
}

/** Networks with more values than this keep their linear weights as they are stored: in float32 they would be larger. */
const MOST_IN_FLOAT32 = 2 ** 30

/**
 * Splits `patches` in two: the last of them that are low-rank changes of linear layers go into slots of the resident
 * session on the CPU; those before are worked into the weights, in a session of its own.
 */
export function unetWeights(
  { key, view }: { readonly key: string; readonly view: WeightView },
  patches: readonly AppliedPatch[],
  { runtime, lower, slotTensors: keep, slottedFrom }: FamilyServices,
): UnetWeights {
  const part = { view, part: 'network', names: patches.length > 0 ? unetLayerNames(view) : new Map() } as const
  const changes = patches.map((patch) => weightChanges(part, [patch]))
  const slots = slotsOf(view, slottedFrom)
  const onCpu = runtime.provider.name === 'cpu'
  const handed = (from: number) => (onCpu ? lowRankChanges(joined(changes.slice(from)), slots) : undefined)
  let from = 0
  let low = handed(from)
  while (!low && from < patches.length) low = handed(++from)

  const worked = joined(changes.slice(0, from))
  const isChanged = worked.size > 0
  const options: LoweringOptions = onCpu ? { stored: storedOf(view, worked), slots } : {}
  const base = isChanged ? `${key} with ${patchesName(patches.slice(0, from))}` : key
  const slotsKey = `${key} ${patchesName(patches.slice(from))}`
  return {
    key: base,
    variantOf: isChanged ? key : undefined,
    view: isChanged ? patchedView(view, worked) : view,
    lower: (name, of) => lower.network(name, of, options),
    shared: async () => (low && low.layers.size > 0 ? keep(slotsKey, low.bytes, () => slotTensors(low)) : undefined),
  }
}

/** Changes one behind the other. */
function joined(each: readonly WeightChanges[]): WeightChanges {
  const all = new Map<string, readonly WeightChange[]>()
  for (const changes of each) for (const [name, more] of changes) all.set(name, [...(all.get(name) ?? []), ...more])
  return all
}

/** Small changes are worked out at every run, for the sake of a session that opens at once; whole networks when it opens. */
function storedOf(view: WeightView, worked: WeightChanges): LoweringOptions['stored'] {
  const values = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + sizeOf(view.get(name).dims), 0)
  const all = values(view.names)
  const isWhole = (changes: readonly WeightChange[]) =>
    changes.some(({ delta }) => delta?.kind === 'full' || delta?.kind === 'set')
  const whole = values([...worked].flatMap(([name, changes]) => (isWhole(changes) ? name : [])))
  if (worked.size > 0 && (whole < all / 4 || all > MOST_IN_FLOAT32)) return 'all'
  return all > MOST_IN_FLOAT32 ? 'linear' : undefined
}
