import { link, listOf, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { rowsOf, stackRows, takeRows } from '../tensor/rows.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'RebatchImages',
  module: 'comfy_extras.nodes_rebatch',
  category: 'image/batch',
  title: 'Regroup Pictures',
  description: 'Takes all pictures of a list apart and makes batches of another size of them.',
  inputs: { images: link(IMAGE), batch_size: widget(int({ default: 1, min: 1, max: 4096 })) },
  outputs: [listOf(IMAGE)],
  inputIsList: true,
  run({ images, batch_size: [size = 1] }) {
    const rows = images.flatMap((batch) => Array.from({ length: rowsOf(batch) }, (_, i) => takeRows(batch, i, i + 1)))
    const groups = Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
    for (const group of groups) {
      const shapes = new Set(group.map(({ dims }) => dims.slice(1).join('×')))
      if (shapes.size > 1) throw new Error(`pictures of ${[...shapes].join(' and ')} cannot share a batch`)
    }
    return [groups.map((group) => stackRows(group, group.length))]
  },
})
