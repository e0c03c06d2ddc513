import { link } from '../graph/node.ts'
import { mapped } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'ImageInvert',
  category: 'image',
  title: 'Invert Colours',
  description: 'Turns every channel around: 0 becomes 1 and 1 becomes 0.',
  inputs: { image: link(IMAGE) },
  outputs: [IMAGE],
  run: ({ image }) => [mapped(image, (value) => 1 - value)],
})
