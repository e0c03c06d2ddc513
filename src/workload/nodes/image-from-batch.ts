import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { rowsOf, takeRows } from '../tensor/rows.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'ImageFromBatch',
  category: 'image/batch',
  title: 'Take Pictures',
  description: 'Takes some pictures out of a batch; what lies beyond its end is left out.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    image: link(IMAGE),
    batch_index: widget(int({ default: 0, min: 0, max: 4095 })),
    length: widget(int({ default: 1, min: 1, max: 4096 })),
  },
  outputs: [IMAGE],
  run({ image, batch_index, length }) {
    const from = Math.min(batch_index, rowsOf(image) - 1)
    return [takeRows(image, from, Math.min(rowsOf(image), from + length))]
  },
})
