import { eulerAncestral } from '../sampling/samplers/euler-ancestral.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { noiseInputs } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerEulerAncestral',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'Euler Ancestral',
  description: 'Euler steps that add noise, with a choice of how much.',
  inputs: noiseInputs,
  outputs: [SAMPLER],
  run: ({ eta, s_noise }) => [eulerAncestral({ eta, noiseScale: s_noise })],
})
