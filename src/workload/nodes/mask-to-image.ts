import { link } from '../graph/node.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { greyOf } from './support/mask-image.ts'

export default defineNode({
  type: 'MaskToImage',
  category: 'mask',
  title: 'Mask to Picture',
  description: 'Gives a mask as a grey picture.',
  module: 'comfy_extras.nodes_mask',
  inputs: { mask: link(MASK) },
  outputs: [IMAGE],
  run: ({ mask }) => [greyOf(mask)],
})
