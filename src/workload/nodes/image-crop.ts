import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { defineNode, IMAGE, MAX_RESOLUTION } from './support/define.ts'
import { cropped, shapeOf } from './support/picture.ts'

const length = widget(int({ default: 512, min: 1, max: MAX_RESOLUTION, step: 1 }))
const corner = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'ImageCrop',
  category: 'image/transform',
  title: 'Crop Picture',
  description: 'Cuts a rectangle out of a picture; its corner is kept inside, what reaches beyond is left out.',
  module: 'comfy_extras.nodes_images',
  inputs: { image: link(IMAGE), width: length, height: length, x: corner, y: corner },
  outputs: [IMAGE],
  run({ image, width, height, x, y }) {
    const full = shapeOf(image)
    return [cropped(image, Math.min(x, full.width - 1), Math.min(y, full.height - 1), width, height)]
  },
})
