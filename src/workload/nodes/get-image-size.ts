import { hidden, link, named } from '../graph/node.ts'
import { defineNode, IMAGE, INT } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

export default defineNode({
  type: 'GetImageSize',
  category: 'image',
  title: 'Size of Picture',
  description: 'Tells the width and height of a picture and how many there are in the batch.',
  module: 'comfy_extras.nodes_images',
  inputs: { image: link(IMAGE), unique_id: hidden('UNIQUE_ID') },
  outputs: [named(INT, 'width'), named(INT, 'height'), named(INT, 'batch_size')],
  run({ image }) {
    const { rows, height, width } = shapeOf(image)
    return [width, height, rows]
  },
})
