import { link } from '../graph/node.ts'
import { CLIP, defineNode } from './support/define.ts'
import { byRatio, mergedEncoders, ratioInput } from './support/merge.ts'

export default defineNode({
  type: 'CLIPMergeSimple',
  module: 'comfy_extras.nodes_model_merging',
  category: 'advanced/model_merging',
  title: 'Mix Text Encoders',
  description: 'Mixes the weights of two text encoders: the ratio is the share of the first.',
  inputs: { clip1: link(CLIP), clip2: link(CLIP), ratio: ratioInput() },
  outputs: [CLIP],
  run: ({ clip1, clip2, ratio }) => [mergedEncoders(clip1, clip2, byRatio(ratio))],
})
