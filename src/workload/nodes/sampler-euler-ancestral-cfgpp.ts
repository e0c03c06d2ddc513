import { eulerAncestralCfgPp } from '../sampling/samplers/euler-ancestral-cfg-pp.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { setting } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerEulerAncestralCFGPP',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'Euler Ancestral CFG++',
  description: 'Euler steps of CFG++ that add noise, with a choice of how much.',
  inputs: { eta: setting(1, 1), s_noise: setting(1, 10) },
  outputs: [SAMPLER],
  run: ({ eta, s_noise }) => [eulerAncestralCfgPp({ eta, noiseScale: s_noise })],
})
