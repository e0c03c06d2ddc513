import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, IMAGE, MAX_RESOLUTION } from './support/define.ts'
import { CROPS, IMAGE_METHODS, resizedImage } from './support/resize.ts'

const side = widget(int({ default: 512, min: 0, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'ImageScale',
  category: 'image/upscaling',
  title: 'Resize Picture',
  description: 'Brings a picture to a size; a side of 0 follows from the other.',
  inputs: {
    image: link(IMAGE),
    upscale_method: widget(choice(IMAGE_METHODS)),
    width: side,
    height: side,
    crop: widget(choice(CROPS)),
  },
  outputs: [IMAGE],
  run({ image, upscale_method, width, height, crop }) {
    if (width === 0 && height === 0) return [image]
    const [, oldHeight = 0, oldWidth = 0] = image.dims
    const w = width || Math.max(1, roundHalfEven((oldWidth * height) / oldHeight))
    const h = height || Math.max(1, roundHalfEven((oldHeight * width) / oldWidth))
    return [resizedImage(image, w, h, upscale_method, crop)]
  },
})
