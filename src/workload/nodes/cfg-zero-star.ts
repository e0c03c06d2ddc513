import { link, named } from '../graph/node.ts'
import { zeroStarGuidance } from '../sampling/hooks/zero-star.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'CFGZeroStar',
  category: 'advanced/guidance',
  module: 'comfy_extras.nodes_cfg',
  title: 'CFG-Zero Star',
  description: "Scales the negative's guess so that it lies as near to the positive's as it can.",
  inputs: { model: link(MODEL) },
  outputs: [named(MODEL, 'patched_model')],
  run: ({ model }) => [withHook(model, zeroStarGuidance)],
})
