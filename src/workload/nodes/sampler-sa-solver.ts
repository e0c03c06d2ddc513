import { link, widget } from '../graph/node.ts'
import { boolean, float, int } from '../graph/widget.ts'
import { saSolver } from '../sampling/samplers/sa-solver.ts'
import { tauBetween } from '../sampling/solvers/sa-solver.ts'
import { defineNode, MODEL, SAMPLER } from './support/define.ts'
import { setting } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerSASolver',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'SA-Solver',
  description: 'Stochastic Adams steps, with a choice of their orders and of where they add noise.',
  inputs: {
    model: link(MODEL),
    eta: setting(1, 10),
    sde_start_percent: widget(float({ default: 0.2, min: 0, max: 1, step: 0.001 })),
    sde_end_percent: widget(float({ default: 0.8, min: 0, max: 1, step: 0.001 })),
    s_noise: setting(1),
    predictor_order: widget(int({ default: 3, min: 1, max: 6 })),
    corrector_order: widget(int({ default: 4, min: 0, max: 6 })),
    use_pece: widget(boolean()),
    simple_order_2: widget(boolean()),
  },
  outputs: [SAMPLER],
  run: (inputs) => [
    saSolver({
      tauOf: tauBetween(inputs.model.sampling, inputs.sde_start_percent, inputs.sde_end_percent, inputs.eta),
      predictorOrder: inputs.predictor_order,
      correctorOrder: inputs.corrector_order,
      asksAgain: inputs.use_pece,
      simpleOrder2: inputs.simple_order_2,
      noiseScale: inputs.s_noise,
    }),
  ],
})
