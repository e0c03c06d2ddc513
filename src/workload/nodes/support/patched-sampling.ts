import type { GuidanceHook } from '../../model/guidance.ts'
import type { DiffusionModel } from '../../model/ports.ts'

/** `model` with `hook` behind the guidance hooks it has. */
export function withHook(model: DiffusionModel, hook: GuidanceHook): DiffusionModel {
  return { ...model, guidance: [...(model.guidance ?? []), hook] }
}

/** Where upstream keeps nodes that change how a model is sampled. */
export const modelAdvanced = 'comfy_extras.nodes_model_advanced'
