import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { edmSampling } from '../sampling/model-sampling.ts'
import { playgroundLatents } from '../sampling/standardised-latents.ts'
import { defineNode, MODEL } from './support/define.ts'
import { modelAdvanced } from './support/patched-sampling.ts'
import { exact } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'ModelSamplingContinuousEDM',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Continuous Model Sampling',
  description: 'For models that were trained on all noise levels between two: says what their output means.',
  inputs: {
    model: link(MODEL),
    sampling: widget(choice(['v_prediction', 'edm', 'edm_playground_v2.5', 'eps', 'cosmos_rflow'])),
    sigma_max: exact(120, 1000, { step: 0.001 }),
    sigma_min: exact(0.002, 1000, { step: 0.001 }),
  },
  outputs: [MODEL],
  run({ model, sampling: kind, sigma_max: sigmaMax, sigma_min: sigmaMin }) {
    if (kind === 'cosmos_rflow') throw new Error('sampling cosmos_rflow is for Cosmos models, which are not supported')
    const edm = kind === 'edm' || kind === 'edm_playground_v2.5'
    const prediction = edm ? 'edm' : kind === 'eps' ? 'eps' : 'v'
    const sampling = edmSampling({ prediction, sigmaMin, sigmaMax, sigmaData: edm ? 0.5 : 1 })
    return [{ ...model, sampling, ...(kind === 'edm_playground_v2.5' && { latent: playgroundLatents }) }]
  },
})
