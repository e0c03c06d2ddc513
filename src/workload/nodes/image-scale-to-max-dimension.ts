import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, IMAGE, MAX_RESOLUTION } from './support/define.ts'
import { shapeOf } from './support/picture.ts'
import { resizedImage } from './support/resize.ts'

export default defineNode({
  type: 'ImageScaleToMaxDimension',
  category: 'image/upscaling',
  title: 'Resize Picture by Longer Side',
  description: 'Gives the longer side of a picture a length and keeps its proportions.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    image: link(IMAGE),
    // Upstream lists one of them twice.
    upscale_method: widget(choice(['area', 'lanczos', 'bilinear', 'nearest-exact', 'bilinear', 'bicubic'])),
    largest_size: widget(int({ default: 512, min: 0, max: MAX_RESOLUTION, step: 1 })),
  },
  outputs: [IMAGE],
  run({ image, upscale_method, largest_size: size }) {
    const { height, width } = shapeOf(image)
    const w = width < height ? roundHalfEven((width / height) * size) : size
    const h = height < width ? roundHalfEven((height / width) * size) : size
    return [resizedImage(image, w, h, upscale_method, 'disabled')]
  },
})
