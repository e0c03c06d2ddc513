import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { rescaledGuidance } from '../sampling/hooks/rescale.ts'
import { defineNode, MODEL } from './support/define.ts'
import { modelAdvanced, withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'RescaleCFG',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Rescaled Guidance',
  description: 'Brings the contrast of guided guesses back to that of unguided ones, against overexposed pictures.',
  inputs: { model: link(MODEL), multiplier: widget(float({ default: 0.7, min: 0, max: 1, step: 0.01 })) },
  outputs: [MODEL],
  run: ({ model, multiplier }) => [withHook(model, rescaledGuidance(multiplier))],
})
