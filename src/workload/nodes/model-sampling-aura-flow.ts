import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { flowSampling } from '../sampling/model-sampling.ts'
import { defineNode, MODEL } from './support/define.ts'
import { modelAdvanced } from './support/patched-sampling.ts'

export default defineNode({
  type: 'ModelSamplingAuraFlow',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Flow Model Sampling to 1',
  description: 'Samples a flow model whose timesteps go to 1; a larger shift spends more steps in noise.',
  inputs: { model: link(MODEL), shift: widget(float({ default: 1.73, min: 0, max: 100, step: 0.01 })) },
  outputs: [MODEL],
  run: ({ model, shift }) => [{ ...model, sampling: flowSampling({ shift, multiplier: 1 }) }],
})
