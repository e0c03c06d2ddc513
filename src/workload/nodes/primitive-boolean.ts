import { widget } from '../graph/node.ts'
import { boolean } from '../graph/widget.ts'
import { BOOLEAN, defineNode } from './support/define.ts'

export default defineNode({
  type: 'PrimitiveBoolean',
  category: 'utils/primitive',
  title: 'Yes or No',
  description: 'Hands on true or false.',
  module: 'comfy_extras.nodes_primitive',
  inputs: { value: widget(boolean()) },
  outputs: [BOOLEAN],
  run: ({ value }) => [value],
})
