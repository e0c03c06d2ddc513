import { widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'

export default defineNode({
  type: 'PrimitiveString',
  category: 'utils/primitive',
  title: 'Text Line',
  description: 'Hands on a text of one line.',
  module: 'comfy_extras.nodes_primitive',
  inputs: { value: widget(string({ multiline: false })) },
  outputs: [STRING],
  run: ({ value }) => [value],
})
