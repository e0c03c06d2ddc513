import { link, named } from '../graph/node.ts'
import { mapped, type Tensor, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

export default defineNode({
  type: 'ImageRGBToYUV',
  category: 'image/batch',
  title: 'Split into Brightness and Colour',
  description:
    'Gives brightness and the two colour differences (ITU-R BT.601) as grey pictures, a half being no colour.',
  module: 'comfy_extras.nodes_morphology',
  inputs: { image: link(IMAGE) },
  outputs: [named(IMAGE, 'Y'), named(IMAGE, 'U'), named(IMAGE, 'V')],
  run({ image }) {
    const { rows, height, width, channels } = shapeOf(image)
    const grey = (value: (red: number, green: number, blue: number) => number): Tensor =>
      mapped(zeros([rows, height, width, 3]), (_, i) => {
        const at = Math.floor(i / 3) * channels
        return value(image.data[at]!, image.data[at + 1]!, image.data[at + 2]!)
      })
    const brightness = (red: number, green: number, blue: number) => 0.299 * red + 0.587 * green + 0.114 * blue
    return [
      grey(brightness),
      grey((red, green, blue) => (blue - brightness(red, green, blue)) * 0.564 + 0.5),
      grey((red, green, blue) => (red - brightness(red, green, blue)) * 0.713 + 0.5),
    ]
  },
})
