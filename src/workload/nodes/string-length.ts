import { named, widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import { defineNode, INT } from './support/define.ts'

export default defineNode({
  type: 'StringLength',
  category: 'utils/string',
  title: 'Length of Text',
  description: 'Counts the characters of a text.',
  module: 'comfy_extras.nodes_string',
  inputs: { string: widget(string({ multiline: true })) },
  outputs: [named(INT, 'length')],
  run: ({ string }) => [Array.from(string).length],
})
