import { link, optional, widget } from '../graph/node.ts'
import { choice, float, int } from '../graph/widget.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { shapeOf } from './support/picture.ts'
import { IMAGE_METHODS, resizedImage } from './support/resize.ts'

export default defineNode({
  type: 'ImageScaleToTotalPixels',
  category: 'image/upscaling',
  title: 'Resize Picture to Megapixels',
  description: 'Brings a picture to a number of pixels and keeps its proportions; sides become multiples of a step.',
  module: 'comfy_extras.nodes_post_processing',
  inputs: {
    image: link(IMAGE),
    upscale_method: widget({ ...choice(IMAGE_METHODS), named: true }),
    megapixels: widget(float({ default: 1, min: 0.01, max: 16, step: 0.01 })),
    resolution_steps: optional(widget(int({ default: 1, min: 1, max: 256 }))),
  },
  outputs: [IMAGE],
  run({ image, upscale_method, megapixels, resolution_steps: step = 1 }) {
    const { height, width } = shapeOf(image)
    const scale = Math.sqrt(Math.trunc(megapixels * 1024 * 1024) / (width * height))
    const [w, h] = [width, height].map((side) => roundHalfEven((side * scale) / step) * step) as [number, number]
    return [resizedImage(image, w, h, upscale_method, 'disabled')]
  },
})
