import { widget } from '../../graph/node.ts'
import { fileOf, float } from '../../graph/widget.ts'
import type { WeightPatch } from '../../model/patches.ts'
import type { DiffusionModel } from '../../model/ports.ts'
import type { Catalogue } from './define.ts'

/** The choice of a LoRA file. */
export const loraName = ({ files }: Catalogue) => widget(fileOf('loras', files))

/** How strongly a LoRA counts; negative turns what it does around. */
export const loraStrength = () => widget(float({ default: 1, min: -100, max: 100, step: 0.01 }))

/** `model` with `patch` behind the patches that it has; as it is at strength 0. */
export const withPatch = (model: DiffusionModel, patch: WeightPatch, strength: number): DiffusionModel =>
  strength === 0 ? model : { ...model, network: model.network.patched([{ patch, strength }]) }
