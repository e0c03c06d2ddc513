import { link } from '../graph/node.ts'
import { slicedAlong } from '../tensor/axes.ts'
import { mapped, reshaped, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

export default defineNode({
  type: 'SplitImageWithAlpha',
  category: 'mask/compositing',
  title: 'Split off Transparency',
  description: 'Gives the colours of a picture, and a mask of what is transparent in it.',
  module: 'comfy_extras.nodes_compositing',
  inputs: { image: link(IMAGE) },
  outputs: [IMAGE, MASK],
  run({ image }) {
    const { rows, height, width, channels } = shapeOf(image)
    const area = [rows, height, width]
    const mask = channels > 3 ? mapped(reshaped(slicedAlong(image, 3, 3, 4), area), (a) => 1 - a) : zeros(area)
    return [slicedAlong(image, 3, 0, 3), mask]
  },
})
