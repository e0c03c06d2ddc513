import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { mapped, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

const byteOf = (value: number): number => roundHalfEven(Math.fround(Math.min(1, Math.max(0, value)) * 255))

export default defineNode({
  type: 'ImageColorToMask',
  category: 'mask',
  title: 'Colour to Mask',
  description: 'Gives a mask of the pixels that have a colour, given as 0xRRGGBB.',
  module: 'comfy_extras.nodes_mask',
  inputs: {
    image: link(IMAGE),
    color: widget(int({ default: 0, min: 0, max: 0xffffff, step: 1, display: 'color' })),
  },
  outputs: [MASK],
  run({ image: { dims, data }, color }) {
    const { rows, height, width, channels } = shapeOf({ dims, data })
    const isColour = (_: number, i: number) => {
      const [red = 0, green = 0, blue = 0] = data.subarray(i * channels, i * channels + 3).map(byteOf)
      return Number(red * 0x10000 + green * 0x100 + blue === color)
    }
    return [mapped(zeros([rows, height, width]), isColour)]
  },
})
