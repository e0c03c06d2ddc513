import { noNoise } from '../sampling/noise-source.ts'
import { defineNode, NOISE } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'DisableNoise',
  category: 'sampling/custom_sampling/noise',
  module: customSampler,
  title: 'No Noise',
  description: 'Begins with the latents as they are, for those that are noisy already.',
  inputs: {},
  outputs: [NOISE],
  run: () => [noNoise],
})
