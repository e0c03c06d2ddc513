import { link } from '../graph/node.ts'
import { mapped } from '../tensor/tensor.ts'
import { defineNode, MASK } from './support/define.ts'

export default defineNode({
  type: 'InvertMask',
  category: 'mask',
  title: 'Invert Mask',
  description: 'Turns a mask around: 0 becomes 1 and 1 becomes 0.',
  module: 'comfy_extras.nodes_mask',
  inputs: { mask: link(MASK) },
  outputs: [MASK],
  run: ({ mask }) => [mapped(mask, (value) => 1 - value)],
})
