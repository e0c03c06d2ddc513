import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { extendedLevels } from '../sampling/schedules/extended.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, exact } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'ExtendIntermediateSigmas',
  category: 'sampling/custom_sampling/sigmas',
  module: customSampler,
  title: 'Divide Steps of a Schedule',
  description: 'Divides the steps that begin within a range of noise levels into more steps; -1 is no upper end.',
  inputs: {
    sigmas: link(SIGMAS),
    steps: widget(int({ default: 2, min: 1, max: 100 })),
    start_at_sigma: exact(-1, 20_000, { min: -1 }),
    end_at_sigma: exact(12, 20_000),
    spacing: widget(choice(['linear', 'cosine', 'sine'])),
  },
  outputs: [SIGMAS],
  run({ sigmas, steps, start_at_sigma, end_at_sigma, spacing }) {
    const highest = start_at_sigma < 0 ? Number.POSITIVE_INFINITY : start_at_sigma
    return [extendedLevels(sigmas, { steps, highest, lowest: end_at_sigma, spacing })]
  },
})
