import { link, optional, widget } from '../graph/node.ts'
import { boolean, int } from '../graph/widget.ts'
import { channelsFirst, channelsLast } from '../tensor/channels.ts'
import { composited } from './support/composite.ts'
import { defineNode, IMAGE, MASK, MAX_RESOLUTION } from './support/define.ts'
import { shapeOf, withChannels } from './support/picture.ts'

const corner = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'ImageCompositeMasked',
  category: 'image',
  title: 'Lay Picture over Picture',
  description: 'Lays one picture over another at a place, where a mask is white.',
  module: 'comfy_extras.nodes_mask',
  inputs: {
    destination: link(IMAGE),
    source: link(IMAGE),
    x: corner,
    y: corner,
    resize_source: widget(boolean({ default: false })),
    mask: optional(link(MASK)),
  },
  outputs: [IMAGE],
  run({ destination, source, x, y, resize_source: resizeSource, mask }) {
    const upper = channelsFirst(withChannels(source, shapeOf(destination).channels))
    return [channelsLast(composited(channelsFirst(destination), upper, { x, y, cell: 1, resizeSource, mask }))]
  },
})
