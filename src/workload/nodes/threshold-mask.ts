import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { mapped } from '../tensor/tensor.ts'
import { defineNode, MASK } from './support/define.ts'

export default defineNode({
  type: 'ThresholdMask',
  category: 'mask',
  title: 'Mask by Threshold',
  description: 'Makes a mask 1 where it is above a value and 0 elsewhere.',
  module: 'comfy_extras.nodes_mask',
  inputs: { mask: link(MASK), value: widget(float({ default: 0.5, min: 0, max: 1, step: 0.01 })) },
  outputs: [MASK],
  run({ mask, value }) {
    const threshold = Math.fround(value) // or 0.1 would lie below the mask's own 0.1
    return [mapped(mask, (own) => Number(own > threshold))]
  },
})
