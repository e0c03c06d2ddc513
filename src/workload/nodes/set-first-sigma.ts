import { link } from '../graph/node.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, exact } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'SetFirstSigma',
  category: 'sampling/custom_sampling/sigmas',
  module: customSampler,
  title: 'Replace First Level',
  description: 'Lets a schedule begin at another noise level.',
  inputs: { sigmas: link(SIGMAS), sigma: exact(136, 20_000, { step: 0.001 }) },
  outputs: [SIGMAS],
  run({ sigmas, sigma }) {
    if (sigmas.length === 0) throw new Error('the schedule has no levels, so there is no first one to replace')
    return [Float32Array.of(sigma, ...sigmas.subarray(1))]
  },
})
