import { dpmppSde } from '../sampling/samplers/dpmpp-sde.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { noiseDevice, noiseInputs, setting } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerDPMPP_SDE',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'DPM++ SDE',
  description: 'The two-stage solver of the reverse SDE, with a choice of its middle and of how much noise it adds.',
  inputs: { ...noiseInputs, r: setting(0.5), noise_device: noiseDevice },
  outputs: [SAMPLER],
  run: ({ eta, s_noise, r }) => [dpmppSde({ eta, noiseScale: s_noise, ratio: r })],
})
