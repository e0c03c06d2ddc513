import { widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'

export default defineNode({
  type: 'PrimitiveStringMultiline',
  category: 'utils/primitive',
  title: 'Text',
  description: 'Hands on a text of several lines.',
  module: 'comfy_extras.nodes_primitive',
  inputs: { value: widget(string({ multiline: true })) },
  outputs: [STRING],
  run: ({ value }) => [value],
})
