import { link } from '../graph/node.ts'
import { CLIP, defineNode } from './support/define.ts'
import { attentionInputs, multiplied } from './support/merge.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'CLIPAttentionMultiply',
  module: 'comfy_extras.nodes_attention_multiply',
  category: '_for_testing/attention_experiments',
  title: 'Multiply Text Attention',
  description: 'Multiplies the projections with which the tokens of a text attend to one another.',
  inputs: { clip: link(CLIP), ...attentionInputs() },
  outputs: [CLIP],
  run({ clip, ...factors }) {
    const where = (each: string) => new RegExp(`\\.self_attn\\.${each}_proj\\.(weight|bias)$`)
    return [present(clip, 'text encoder').patched(multiplied(factors, where))]
  },
})
