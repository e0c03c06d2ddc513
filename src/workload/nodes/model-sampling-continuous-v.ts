import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { angularSampling } from '../sampling/model-sampling.ts'
import { defineNode, MODEL } from './support/define.ts'
import { modelAdvanced } from './support/patched-sampling.ts'
import { exact } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'ModelSamplingContinuousV',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Continuous Model Sampling by Angle',
  description: 'For v-prediction models that are told the angle between image and noise.',
  inputs: {
    model: link(MODEL),
    sampling: widget(choice(['v_prediction'])),
    sigma_max: exact(500, 1000, { step: 0.001 }),
    sigma_min: exact(0.03, 1000, { step: 0.001 }),
  },
  outputs: [MODEL],
  run: ({ model, sigma_max, sigma_min }) => [
    { ...model, sampling: angularSampling({ sigmaMin: sigma_min, sigmaMax: sigma_max }) },
  ],
})
