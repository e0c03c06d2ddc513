import { widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { erSde } from '../sampling/samplers/er-sde.ts'
import { defineNode, SAMPLER } from './support/define.ts'
import { noiseInputs } from './support/solver-inputs.ts'

export default defineNode({
  type: 'SamplerER_SDE',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_custom_sampler',
  title: 'ER-SDE',
  description: 'The extended reverse-time SDE solver, with a choice of the process and of its order.',
  inputs: {
    solver_type: widget({
      ...choice(['ER-SDE', 'Reverse-time SDE', 'ODE'], { multiselect: undefined }),
      named: true,
    }),
    max_stage: widget(int({ default: 3, min: 1, max: 3 })),
    ...noiseInputs,
  },
  outputs: [SAMPLER],
  run: ({ solver_type, max_stage, eta, s_noise }) => {
    if (solver_type === 'ER-SDE') return [erSde({ maxStage: max_stage, noiseScale: s_noise })]
    // Without noise the reverse-time SDE is the ODE.
    const used = solver_type === 'ODE' ? 0 : eta
    return [erSde({ maxStage: max_stage, noiseFall: (v) => v ** (used + 1), noiseScale: used === 0 ? 0 : s_noise })]
  },
})
