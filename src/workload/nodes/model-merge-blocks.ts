import { link } from '../graph/node.ts'
import { defineNode, MODEL } from './support/define.ts'
import { byRatio, mergedModels, ratioInput } from './support/merge.ts'

export default defineNode({
  type: 'ModelMergeBlocks',
  module: 'comfy_extras.nodes_model_merging',
  category: 'advanced/model_merging',
  title: 'Mix Models by Blocks',
  description: 'Mixes the weights of two models with a share of the first for each part of the network.',
  inputs: { model1: link(MODEL), model2: link(MODEL), input: ratioInput(), middle: ratioInput(), out: ratioInput() },
  outputs: [MODEL],
  run: ({ model1, model2, input, middle, out }) => [
    mergedModels(model1, model2, [
      // What is in no block counts to the input.
      { ...byRatio(input), where: /^(?!middle|out)/ },
      { ...byRatio(middle), where: /^middle/ },
      { ...byRatio(out), where: /^out/ },
    ]),
  ],
})
