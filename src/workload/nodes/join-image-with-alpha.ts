import { link } from '../graph/node.ts'
import { joinedAlong, slicedAlong } from '../tensor/axes.ts'
import { resized } from '../tensor/resize.ts'
import { rowsOf, takeRows } from '../tensor/rows.ts'
import { mapped, reshaped } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { withChannel } from './support/mask.ts'
import { shapeOf } from './support/picture.ts'

export default defineNode({
  type: 'JoinImageWithAlpha',
  category: 'mask/compositing',
  title: 'Make Transparent',
  description: 'Makes a picture transparent where a mask is white.',
  module: 'comfy_extras.nodes_compositing',
  inputs: { image: link(IMAGE), alpha: link(MASK) },
  outputs: [IMAGE],
  run({ image, alpha }) {
    const { height, width } = shapeOf(image)
    const rows = Math.min(rowsOf(image), rowsOf(alpha))
    const mask = resized(withChannel(takeRows(alpha, 0, rows)), width, height, 'bilinear', 'disabled')
    const opacity = reshaped(
      mapped(mask, (value) => 1 - value),
      [rows, height, width, 1],
    )
    return [joinedAlong([slicedAlong(takeRows(image, 0, rows), 3, 0, 3), opacity], 3)]
  },
})
