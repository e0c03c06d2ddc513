import { widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { lms } from '../sampling/samplers/lms.ts'
import { defineNode, SAMPLER } from './support/define.ts'

export default defineNode({
  type: 'SamplerLMS',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'LMS',
  description: 'The linear multistep method, with a choice of how many steps it looks back on.',
  inputs: { order: widget(int({ default: 4, min: 1, max: 100 })) },
  outputs: [SAMPLER],
  run: ({ order }) => [lms(order)],
})
