import { widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { dpmpp2mSde } from '../sampling/samplers/dpmpp-2m-sde.ts'
import { dpmpp2mSdeHeun } from '../sampling/samplers/dpmpp-2m-sde-heun.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { noiseDevice, noiseInputs } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerDPMPP_2M_SDE',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'DPM++ 2M SDE',
  description: 'The two-step solver of the reverse SDE, with a choice of its rule and of how much noise it adds.',
  inputs: { solver_type: widget(choice(['midpoint', 'heun'])), ...noiseInputs, noise_device: noiseDevice },
  outputs: [SAMPLER],
  run: ({ solver_type, eta, s_noise }) => {
    const solver = solver_type === 'heun' ? dpmpp2mSdeHeun : dpmpp2mSde
    return [solver({ eta, noiseScale: s_noise })]
  },
})
