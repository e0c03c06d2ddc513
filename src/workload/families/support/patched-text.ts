import type { LoweringFor } from '../../architectures/lowering.ts'
import type { AppliedPatch, WeightPatch } from '../../model/patches.ts'
import { textLayerNames } from '../../weights/lora-names.ts'
import { patchedView } from '../../weights/patch-view.ts'
import type { WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { type Patchable, patchesName, weightChanges, weightsAsPatch } from './patches.ts'

/** A text encoder's weights with its patches, as its graph is to be made of them. */
export interface PatchedText {
  /** Equal keys share a session. */
  readonly key: string
  /** Changed weights are a variant of these. */
  readonly variantOf: string | undefined
  readonly view: WeightView
  readonly lower: LoweringFor
}

/** As it is when `patches` change nothing of it. Changed weights are worked out at every run: an encoder runs once a prompt. */
export function patchedText(
  size: 'l' | 'g' | 'h',
  { key, view }: { readonly key: string; readonly view: WeightView },
  patches: readonly AppliedPatch[],
  { lower: { textEncoder } }: Pick<FamilyServices, 'lower'>,
): PatchedText {
  const changes = weightChanges(patchableText(size, view), patches)
  if (changes.size === 0) return { key, variantOf: undefined, view, lower: textEncoder }
  return {
    key: `${key} with ${patchesName(patches)}`,
    variantOf: key,
    view: patchedView(view, changes),
    lower: (name, of) => textEncoder(name, of, { stored: 'all' }),
  }
}

/** A text encoder's weights wherever they are read from files. */
type TextSource = { readonly key: string; readonly view: WeightView } | { readonly open: unknown }

/** The weights of text encoders with `patches`, as a patch; undefined when not all of them can be read. */
export function textAsPatch(
  sources: Readonly<Partial<Record<'l' | 'g' | 'h', TextSource>>>,
  patches: readonly AppliedPatch[],
): WeightPatch | undefined {
  const keys: string[] = []
  const parts: { part: 'l' | 'g' | 'h'; view: WeightView }[] = []
  for (const part of ['l', 'g', 'h'] as const) {
    const source = sources[part]
    if (!source) continue
    if (!('view' in source)) return undefined
    keys.push(source.key)
    const changes = weightChanges(patchableText(part, source.view), patches)
    parts.push({ part, view: patchedView(source.view, changes) })
  }
  return weightsAsPatch([...keys, patchesName(patches)].join(' '), parts)
}

/** A text encoder under the names that files may have for its layers. */
const patchableText = (part: 'l' | 'g' | 'h', view: WeightView): Patchable => ({
  part,
  view,
  names: textLayerNames(view, part),
})
