import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { repeatRows, rowsOf } from '../tensor/rows.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'RepeatImageBatch',
  category: 'image/batch',
  title: 'Repeat Pictures',
  description: 'Repeats a whole batch of pictures one behind the other.',
  module: 'comfy_extras.nodes_images',
  inputs: { image: link(IMAGE), amount: widget(int({ default: 1, min: 1, max: 4096 })) },
  outputs: [IMAGE],
  run: ({ image, amount }) => [repeatRows(image, rowsOf(image) * amount)],
})
