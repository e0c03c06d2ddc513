import { dpmpp2sAncestral } from '../sampling/samplers/dpmpp-2s-ancestral.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { noiseInputs } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerDPMPP_2S_Ancestral',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'DPM++ 2S Ancestral',
  description: 'The two-stage solver over ancestral steps, with a choice of how much noise it adds.',
  inputs: noiseInputs,
  outputs: [SAMPLER],
  run: ({ eta, s_noise }) => [dpmpp2sAncestral({ eta, noiseScale: s_noise })],
})
