import { widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { filled } from '../tensor/tensor.ts'
import { defineNode, MASK, MAX_RESOLUTION } from './support/define.ts'

const side = widget(int({ default: 512, min: 1, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'SolidMask',
  category: 'mask',
  title: 'Plain Mask',
  description: 'A mask of one value.',
  module: 'comfy_extras.nodes_mask',
  inputs: { value: widget(float({ default: 1, min: 0, max: 1, step: 0.01 })), width: side, height: side },
  outputs: [MASK],
  run: ({ value, width, height }) => [filled([1, height, width], value)],
})
