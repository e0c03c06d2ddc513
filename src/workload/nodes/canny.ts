import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { edgesOf } from '../tensor/canny.ts'
import { mapped, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { greyOf } from './support/mask-image.ts'
import { shapeOf } from './support/picture.ts'

const threshold = (value: number) => widget(float({ default: value, min: 0.01, max: 0.99, step: 0.01 }))

export default defineNode({
  type: 'Canny',
  category: 'image/preprocessors',
  title: 'Find Edges',
  description: 'Draws the edges of a picture white on black (Canny 1986).',
  module: 'comfy_extras.nodes_canny',
  inputs: { image: link(IMAGE), low_threshold: threshold(0.4), high_threshold: threshold(0.8) },
  outputs: [IMAGE],
  run({ image, low_threshold, high_threshold }) {
    if (low_threshold > high_threshold) throw new Error('low_threshold must not be above high_threshold')
    const { rows, height, width, channels } = shapeOf(image)
    const brightness = (_: number, i: number) => {
      const [red = 0, green = 0, blue = 0] = image.data.subarray(i * channels, i * channels + 3)
      return 0.299 * red + 0.587 * green + 0.114 * blue
    }
    const grey = mapped(zeros([rows, 1, height, width]), brightness)
    const { data } = edgesOf(grey, low_threshold, high_threshold)
    return [greyOf({ dims: [rows, height, width], data })]
  },
})
