import { widget } from '../graph/node.ts'
import { wideInt } from '../graph/widget.ts'
import { defineNode, INT } from './support/define.ts'

const MAX = 0x7fff_ffff_ffff_ffffn

export default defineNode({
  type: 'PrimitiveInt',
  category: 'utils/primitive',
  title: 'Whole Number',
  description: 'Hands on a whole number of up to 64 bits.',
  module: 'comfy_extras.nodes_primitive',
  inputs: { value: widget(wideInt({ min: -MAX, max: MAX, control_after_generate: true })) },
  outputs: [INT],
  run: ({ value }) => [value],
})
