import { widget } from '../graph/node.ts'
import { seed } from '../graph/widget.ts'
import { seededNoise } from '../sampling/noise-source.ts'
import { defineNode, NOISE } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'RandomNoise',
  category: 'sampling/custom_sampling/noise',
  module: customSampler,
  title: 'Noise from Seed',
  description: 'The noise that a seed gives; it also seeds what the sampler draws on its way.',
  inputs: { noise_seed: widget(seed({ control_after_generate: true })) },
  outputs: [NOISE],
  run: ({ noise_seed }) => [seededNoise(noise_seed)],
})
