import { link } from '../graph/node.ts'
import { joinedAlong } from '../tensor/axes.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { shapeOf, withChannels } from './support/picture.ts'
import { resizedImage } from './support/resize.ts'

export default defineNode({
  type: 'ImageBatch',
  category: 'image',
  title: 'Join Pictures',
  description: 'Puts two batches of pictures into one; the second takes the size of the first.',
  inputs: { image1: link(IMAGE), image2: link(IMAGE) },
  outputs: [IMAGE],
  run({ image1, image2 }) {
    const channels = Math.max(shapeOf(image1).channels, shapeOf(image2).channels)
    const [first, second] = [withChannels(image1, channels), withChannels(image2, channels)]
    const { height, width } = shapeOf(first)
    const fits = shapeOf(second).height === height && shapeOf(second).width === width
    return [joinedAlong([first, fits ? second : resizedImage(second, width, height, 'bilinear', 'center')], 0)]
  },
})
