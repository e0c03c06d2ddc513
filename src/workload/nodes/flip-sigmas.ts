import { link } from '../graph/node.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

/** What a level of 0 becomes where a run begins: it cannot step away from no noise at all. */
const leastFirst = 0.0001

export default defineNode({
  type: 'FlipSigmas',
  category: 'sampling/custom_sampling/sigmas',
  module: customSampler,
  title: 'Reverse Schedule',
  description: 'Turns a schedule round, to lead from an image to its noise.',
  inputs: { sigmas: link(SIGMAS) },
  outputs: [SIGMAS],
  run({ sigmas }) {
    const flipped = sigmas.toReversed()
    if (flipped[0] === 0) flipped[0] = leastFirst
    return [flipped]
  },
})
