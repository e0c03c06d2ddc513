import { link } from '../../graph/node.ts'
import { defineNode, MODEL } from './define.ts'
import { byRatio, mergedModels, ratioInput } from './merge.ts'

/** The parts of a UNet with so many input and output blocks; `ending` closes the names of the numbered ones. */
export const unetParts = (blocks: number, ending: '' | '.'): readonly string[] => {
  const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}.${i}${ending}`)
  return [
    'time_embed.',
    'label_emb.',
    ...numbered('input_blocks', blocks),
    ...numbered('middle_block', 3),
    ...numbered('output_blocks', blocks),
    'out.',
  ]
}

/** A node that mixes two models with a share of the first for each of `parts`; the first part's is that of the rest. */
export const blockMerge = (declared: { readonly type: string; readonly title: string }, parts: readonly string[]) =>
  defineNode({
    ...declared,
    description: 'Mixes the weights of two models with a share of the first for each block of the network.',
    module: 'comfy_extras.nodes_model_merging_model_specific',
    category: 'advanced/model_merging/model_specific',
    inputs: {
      model1: link(MODEL),
      model2: link(MODEL),
      ...Object.fromEntries(parts.map((part) => [part, ratioInput()])),
    },
    outputs: [MODEL],
    run({ model1, model2, ...ratios }) {
      const [, ...others] = parts.map((part) => part.replaceAll('.', '\\.'))
      const places = [`(?!${others.join('|')})`, ...others]
      const shares: Readonly<Record<string, number>> = ratios // one for each of `parts`
      const mixes = parts.map((part, i) => ({ ...byRatio(shares[part]!), where: new RegExp(`^${places[i]}`) }))
      return [mergedModels(model1, model2, mixes)]
    },
  })
