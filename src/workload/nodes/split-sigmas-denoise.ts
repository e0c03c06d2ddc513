import { link, named } from '../graph/node.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, denoiseShare } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'SplitSigmasDenoise',
  category: 'sampling/custom_sampling/sigmas',
  module: customSampler,
  title: 'Split Schedule by Share',
  description: 'Cuts a schedule in two so that the second part has a share of the steps.',
  inputs: { sigmas: link(SIGMAS), denoise: denoiseShare() },
  outputs: [named(SIGMAS, 'high_sigmas'), named(SIGMAS, 'low_sigmas')],
  run({ sigmas, denoise }) {
    const steps = roundHalfEven(Math.max(sigmas.length - 1, 0) * denoise)
    // Without steps in the second part the first is empty, as upstream slices it.
    return [sigmas.slice(0, -steps), sigmas.slice(-(steps + 1))]
  },
})
