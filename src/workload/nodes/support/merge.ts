import { link, widget } from '../../graph/node.ts'
import { float } from '../../graph/widget.ts'
import { type AppliedPatch, noPatch, type WeightPatch } from '../../model/patches.ts'
import type { DiffusionModel, TextEncoder } from '../../model/ports.ts'
import { CLIP, defineNode, MODEL } from './define.ts'
import { present } from './present.ts'

/** How one network's weights and another's are mixed: what is kept of the first, how much of the second is added. */
export type Mix = Pick<AppliedPatch, 'strength' | 'kept' | 'where'>

const PATH = 'advanced/model_merging'
const MODULE = 'comfy_extras.nodes_model_merging'

const weightsOf = (network: { asPatch?(): WeightPatch }): WeightPatch => {
  if (network.asPatch) return network.asPatch()
  throw new Error('the weights of an ONNX network cannot be merged: use the model in safetensors')
}

/** The first model with the weights of the second mixed in. */
export function mergedModels(first: DiffusionModel, second: DiffusionModel, mixes: readonly Mix[]): DiffusionModel {
  const patch = weightsOf(second.network)
  return { ...first, network: first.network.patched(mixes.map((mix) => ({ patch, ...mix }))) }
}

/** The first text encoder with the weights of the second mixed in. */
export function mergedEncoders(first: TextEncoder | undefined, second: TextEncoder | undefined, mix: Mix): TextEncoder {
  const patch = weightsOf(present(second, 'text encoder'))
  return present(first, 'text encoder').patched([{ patch, ...mix }])
}

interface Merge {
  readonly type: string
  readonly title: string
  readonly description: string
}

/** Nodes that mix two models, without and with a number that says how. */
export const modelMerge = (declared: Merge, mix: Mix) =>
  defineNode({
    ...declared,
    module: MODULE,
    category: PATH,
    inputs: { model1: link(MODEL), model2: link(MODEL) },
    outputs: [MODEL],
    run: ({ model1, model2 }) => [mergedModels(model1, model2, [mix])],
  })

/** The same for text encoders. */
export const clipMerge = (declared: Merge, mix: Mix) =>
  defineNode({
    ...declared,
    module: MODULE,
    category: PATH,
    inputs: { clip1: link(CLIP), clip2: link(CLIP) },
    outputs: [CLIP],
    run: ({ clip1, clip2 }) => [mergedEncoders(clip1, clip2, mix)],
  })

/** `ratio` of the first, the rest of the second. */
export const byRatio = (ratio: number): Mix => ({ strength: 1 - ratio, kept: ratio })

/** The difference of the two, times `multiplier`. */
export const difference = (multiplier: number): Mix => ({ strength: -multiplier, kept: multiplier })

/** A share of the first, 0 to 1. */
export const ratioInput = () => widget(float({ default: 1, min: 0, max: 1, step: 0.01 }))

/** What a difference is multiplied with. */
export const multiplierInput = () => widget(float({ default: 1, min: -10, max: 10, step: 0.01 }))

/** What the projections of an attention are multiplied with. */
export const attentionInputs = () => {
  const factor = () => widget(float({ default: 1, min: 0, max: 10, step: 0.01 }))
  return { q: factor(), k: factor(), v: factor(), out: factor() }
}

/** Multiplies weights and biases of the layers whose names `where` gives for `q`, `k`, `v` and `out`. */
export const multiplied = (
  factors: Readonly<Record<'q' | 'k' | 'v' | 'out', number>>,
  where: (projection: 'q' | 'k' | 'v' | 'out') => RegExp,
): readonly AppliedPatch[] =>
  (['q', 'k', 'v', 'out'] as const).flatMap((each) =>
    factors[each] === 1 ? [] : [{ patch: noPatch, strength: 0, kept: factors[each], where: where(each) }],
  )

/** A node that multiplies the projections of the attentions `attn1` or `attn2` of a UNet. */
export const attentionMultiply = (declared: Merge, attention: 'attn1' | 'attn2') =>
  defineNode({
    ...declared,
    module: 'comfy_extras.nodes_attention_multiply',
    category: '_for_testing/attention_experiments',
    inputs: { model: link(MODEL), ...attentionInputs() },
    outputs: [MODEL],
    run({ model, ...factors }) {
      const layer = (each: string) => (each === 'out' ? 'to_out\\.0' : `to_${each}`)
      const where = (each: string) => new RegExp(`\\.${attention}\\.${layer(each)}\\.(weight|bias)$`)
      return [{ ...model, network: model.network.patched(multiplied(factors, where)) }]
    },
  })
