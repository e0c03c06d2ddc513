import { link, widget } from '../graph/node.ts'
import { choice, float } from '../graph/widget.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { IMAGE_METHODS, resizedImage } from './support/resize.ts'

export default defineNode({
  type: 'ImageScaleBy',
  category: 'image/upscaling',
  title: 'Resize Picture by Factor',
  description: 'Enlarges or shrinks a picture by a factor.',
  inputs: {
    image: link(IMAGE),
    upscale_method: widget(choice(IMAGE_METHODS)),
    scale_by: widget(float({ default: 1, min: 0.01, max: 8, step: 0.01 })),
  },
  outputs: [IMAGE],
  run({ image, upscale_method, scale_by }) {
    const [, height = 0, width = 0] = image.dims
    const [w, h] = [roundHalfEven(width * scale_by), roundHalfEven(height * scale_by)]
    return [resizedImage(image, w, h, upscale_method, 'disabled')]
  },
})
