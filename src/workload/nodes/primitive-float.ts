import { widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { defineNode, FLOAT } from './support/define.ts'

const MAX = 0x7fff_ffff_ffff_ffffn

export default defineNode({
  type: 'PrimitiveFloat',
  category: 'utils/primitive',
  title: 'Number',
  description: 'Hands on a number.',
  module: 'comfy_extras.nodes_primitive',
  inputs: { value: widget(float({ min: -MAX, max: MAX })) },
  outputs: [FLOAT],
  run: ({ value }) => [value],
})
