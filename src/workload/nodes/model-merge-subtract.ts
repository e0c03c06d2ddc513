import { link } from '../graph/node.ts'
import { defineNode, MODEL } from './support/define.ts'
import { difference, mergedModels, multiplierInput } from './support/merge.ts'

export default defineNode({
  type: 'ModelMergeSubtract',
  module: 'comfy_extras.nodes_model_merging',
  category: 'advanced/model_merging',
  title: 'Subtract Models',
  description: 'Takes the weights of the second model from the first and multiplies the difference.',
  inputs: { model1: link(MODEL), model2: link(MODEL), multiplier: multiplierInput() },
  outputs: [MODEL],
  run: ({ model1, model2, multiplier }) => [mergedModels(model1, model2, [difference(multiplier)])],
})
