import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { projectedGuidance } from '../sampling/hooks/projected.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'APG',
  category: 'sampling/custom_sampling',
  module: 'comfy_extras.nodes_apg',
  title: 'Adaptive Projected Guidance',
  description: 'Weakens the part of guidance that only makes colours stronger.',
  inputs: {
    model: link(MODEL),
    eta: widget(float({ default: 1, min: -10, max: 10, step: 0.01 })),
    norm_threshold: widget(float({ default: 5, min: 0, max: 50, step: 0.1 })),
    momentum: widget(float({ default: 0, min: -5, max: 1, step: 0.01 })),
  },
  outputs: [MODEL],
  run: ({ model, eta, norm_threshold, momentum }) => [
    withHook(model, projectedGuidance({ eta, normThreshold: norm_threshold, momentum })),
  ],
})
