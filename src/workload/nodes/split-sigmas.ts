import { link, named, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'SplitSigmas',
  category: 'sampling/custom_sampling/sigmas',
  module: customSampler,
  title: 'Split Schedule at Step',
  description: 'Cuts a schedule in two after a number of steps; both parts hold the level at the cut.',
  inputs: { sigmas: link(SIGMAS), step: widget(int({ default: 0, min: 0, max: 10_000 })) },
  outputs: [named(SIGMAS, 'high_sigmas'), named(SIGMAS, 'low_sigmas')],
  run: ({ sigmas, step }) => [sigmas.slice(0, step + 1), sigmas.slice(step)],
})
