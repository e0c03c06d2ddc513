import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { flippedAlong } from '../tensor/axes.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'ImageFlip',
  category: 'image/transform',
  title: 'Mirror Picture',
  description: 'Mirrors a picture: top to bottom along the x axis, left to right along the y axis.',
  module: 'comfy_extras.nodes_images',
  inputs: { image: link(IMAGE), flip_method: widget(choice(['x-axis: vertically', 'y-axis: horizontally'])) },
  outputs: [IMAGE],
  run: ({ image, flip_method }) => [flippedAlong(image, flip_method.startsWith('x') ? 1 : 2)],
})
