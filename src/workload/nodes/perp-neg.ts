import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { perpendicularHook } from '../sampling/perpendicular-guidance.ts'
import { CONDITIONING, defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'PerpNeg',
  category: '_for_testing',
  module: 'comfy_extras.nodes_perpneg',
  deprecated: true,
  experimental: true,
  title: 'Perpendicular Negative',
  description: 'Lets the negative take nothing away that the positive asks for, with any sampler.',
  inputs: {
    model: link(MODEL),
    empty_conditioning: link(CONDITIONING),
    neg_scale: widget(float({ default: 1, min: 0, max: 100, step: 0.01 })),
  },
  outputs: [MODEL],
  run: ({ model, empty_conditioning, neg_scale }) => [
    withHook(model, perpendicularHook(empty_conditioning, neg_scale)),
  ],
})
