import { link } from '../graph/node.ts'
import { CLIP, defineNode } from './support/define.ts'
import { difference, mergedEncoders, multiplierInput } from './support/merge.ts'

export default defineNode({
  type: 'CLIPMergeSubtract',
  module: 'comfy_extras.nodes_model_merging',
  category: 'advanced/model_merging',
  title: 'Subtract Text Encoders',
  description: 'Takes the weights of the second text encoder from the first and multiplies the difference.',
  inputs: { clip1: link(CLIP), clip2: link(CLIP), multiplier: multiplierInput() },
  outputs: [CLIP],
  run: ({ clip1, clip2, multiplier }) => [mergedEncoders(clip1, clip2, difference(multiplier))],
})
