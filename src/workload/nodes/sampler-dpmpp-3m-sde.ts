import { dpmpp3mSde } from '../sampling/samplers/dpmpp-3m-sde.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { noiseDevice, noiseInputs } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerDPMPP_3M_SDE',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'DPM++ 3M SDE',
  description: 'The three-step solver of the reverse SDE, with a choice of how much noise it adds.',
  inputs: { ...noiseInputs, noise_device: noiseDevice },
  outputs: [SAMPLER],
  run: ({ eta, s_noise }) => [dpmpp3mSde({ eta, noiseScale: s_noise })],
})
