import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { defineNode, IMAGE, MAX_RESOLUTION } from './support/define.ts'
import { paddedTo, shapeOf } from './support/picture.ts'
import { resizedImage } from './support/resize.ts'

const side = widget(int({ default: 512, min: 1, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'ResizeAndPadImage',
  category: 'image/transform',
  title: 'Fit Picture into Frame',
  description: 'Makes a picture as large as fits into a size and fills the rest with white or black.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    image: link(IMAGE),
    target_width: side,
    target_height: side,
    padding_color: widget(choice(['white', 'black'])),
    interpolation: widget(choice(['area', 'bicubic', 'nearest-exact', 'bilinear', 'lanczos'])),
  },
  outputs: [IMAGE],
  run({ image, target_width, target_height, padding_color, interpolation }) {
    const { height, width } = shapeOf(image)
    const scale = Math.min(target_width / width, target_height / height)
    const [w, h] = [Math.trunc(width * scale), Math.trunc(height * scale)]
    const fitted = resizedImage(image, w, h, interpolation, 'disabled')
    const [x, y] = [Math.floor((target_width - w) / 2), Math.floor((target_height - h) / 2)]
    return [paddedTo(fitted, x, y, target_width, target_height, Number(padding_color === 'white'))]
  },
})
