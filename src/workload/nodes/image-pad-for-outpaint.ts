import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { tensor } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MASK, MAX_RESOLUTION } from './support/define.ts'
import { paddedTo, shapeOf } from './support/picture.ts'

const side = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: 8 }))

export default defineNode({
  type: 'ImagePadForOutpaint',
  category: 'image',
  title: 'Add Room around Picture',
  description: 'Adds grey margins to be painted, and a mask of them that fades out into the picture.',
  inputs: {
    image: link(IMAGE),
    left: side,
    top: side,
    right: side,
    bottom: side,
    feathering: widget(int({ default: 40, min: 0, max: MAX_RESOLUTION, step: 1 })),
  },
  outputs: [IMAGE, MASK],
  run({ image, left, top, right, bottom, feathering }) {
    const { height, width } = shapeOf(image)
    const [fullWidth, fullHeight] = [left + width + right, top + height + bottom]
    const fades = feathering > 0 && feathering * 2 < height && feathering * 2 < width
    const inner = new Float32Array(height * width)
    for (let i = 0; i < inner.length && fades; i++) {
      const [y, x] = [Math.floor(i / width), i % width]
      const distance = Math.min(
        top > 0 ? y : height,
        bottom > 0 ? height - y : height,
        left > 0 ? x : width,
        right > 0 ? width - x : width,
      )
      inner[i] = Math.max(0, (feathering - distance) / feathering) ** 2
    }
    return [
      paddedTo(image, left, top, fullWidth, fullHeight, 0.5),
      paddedTo(tensor([1, height, width], inner), left, top, fullWidth, fullHeight, 1),
    ]
  },
})
