import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { cascadeSampling } from '../sampling/cascade-sampling.ts'
import { defineNode, MODEL } from './support/define.ts'
import { modelAdvanced } from './support/patched-sampling.ts'

export default defineNode({
  type: 'ModelSamplingStableCascade',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Cascade Model Sampling',
  description: 'Samples a model that was trained on the cosine schedule; a larger shift spends more steps in noise.',
  inputs: { model: link(MODEL), shift: widget(float({ default: 2, min: 0, max: 100, step: 0.01 })) },
  outputs: [MODEL],
  run: ({ model, shift }) => [{ ...model, sampling: cascadeSampling({ shift }) }],
})
