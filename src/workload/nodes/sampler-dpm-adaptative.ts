import { widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { dpmAdaptive } from '../sampling/samplers/dpm-adaptive.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { setting } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerDPMAdaptative',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'DPM Adaptive',
  description: 'The solver that chooses its own steps, with all that it chooses them by.',
  inputs: {
    order: widget(int({ default: 3, min: 2, max: 3 })),
    rtol: setting(0.05),
    atol: setting(0.0078),
    h_init: setting(0.05),
    pcoeff: setting(0),
    icoeff: setting(1),
    dcoeff: setting(0),
    accept_safety: setting(0.81),
    eta: setting(0),
    s_noise: setting(1),
  },
  outputs: [SAMPLER],
  run: ({ order, rtol, atol, h_init, pcoeff, icoeff, dcoeff, accept_safety, eta, s_noise }) => [
    dpmAdaptive({
      order: order === 2 ? 2 : 3,
      relativeTolerance: rtol,
      absoluteTolerance: atol,
      firstLength: h_init,
      proportional: pcoeff,
      integral: icoeff,
      derivative: dcoeff,
      acceptFrom: accept_safety,
      eta,
      noiseScale: s_noise,
    }),
  ],
})
