import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { slicedAlong } from '../tensor/axes.ts'
import { reshaped } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

const CHANNELS = ['red', 'green', 'blue', 'alpha'] as const

export default defineNode({
  type: 'ImageToMask',
  category: 'mask',
  title: 'Picture to Mask',
  description: 'Gives one channel of a picture as a mask.',
  module: 'comfy_extras.nodes_mask',
  inputs: { image: link(IMAGE), channel: widget(choice(CHANNELS)) },
  outputs: [MASK],
  run({ image, channel }) {
    const { rows, height, width, channels } = shapeOf(image)
    const at = CHANNELS.indexOf(channel)
    if (at >= channels) throw new Error(`the picture has no channel ${channel}`)
    return [reshaped(slicedAlong(image, 3, at, at + 1), [rows, height, width])]
  },
})
