import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { defineNode, MASK, MAX_RESOLUTION } from './support/define.ts'
import { cropped } from './support/picture.ts'

const corner = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: 1 }))
const length = widget(int({ default: 512, min: 1, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'CropMask',
  category: 'mask',
  title: 'Crop Mask',
  description: 'Cuts a rectangle out of a mask; what reaches beyond is left out.',
  module: 'comfy_extras.nodes_mask',
  inputs: { mask: link(MASK), x: corner, y: corner, width: length, height: length },
  outputs: [MASK],
  run: ({ mask, x, y, width, height }) => [cropped(mask, x, y, width, height)],
})
