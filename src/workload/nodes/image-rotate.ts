import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { turned } from '../tensor/turn.ts'
import { defineNode, IMAGE } from './support/define.ts'

const ROTATIONS = ['none', '90 degrees', '180 degrees', '270 degrees'] as const

export default defineNode({
  type: 'ImageRotate',
  category: 'image/transform',
  title: 'Turn Picture',
  description: 'Turns a picture clockwise by quarters.',
  module: 'comfy_extras.nodes_images',
  inputs: { image: link(IMAGE), rotation: widget(choice(ROTATIONS)) },
  outputs: [IMAGE],
  run: ({ image, rotation }) => [turned(image, 1, ROTATIONS.indexOf(rotation))],
})
