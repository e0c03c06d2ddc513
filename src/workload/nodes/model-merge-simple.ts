import { link } from '../graph/node.ts'
import { defineNode, MODEL } from './support/define.ts'
import { byRatio, mergedModels, ratioInput } from './support/merge.ts'

export default defineNode({
  type: 'ModelMergeSimple',
  module: 'comfy_extras.nodes_model_merging',
  category: 'advanced/model_merging',
  title: 'Mix Models',
  description: 'Mixes the weights of two models: the ratio is the share of the first.',
  inputs: { model1: link(MODEL), model2: link(MODEL), ratio: ratioInput() },
  outputs: [MODEL],
  run: ({ model1, model2, ratio }) => [mergedModels(model1, model2, [byRatio(ratio)])],
})
