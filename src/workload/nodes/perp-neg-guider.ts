import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { createPerpendicularGuider } from '../sampling/perpendicular-guidance.ts'
import { CONDITIONING, defineNode, GUIDER, MODEL } from './support/define.ts'
import { cfgScale } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'PerpNegGuider',
  category: '_for_testing',
  module: 'comfy_extras.nodes_perpneg',
  experimental: true,
  title: 'Guider with Perpendicular Negative',
  description: 'Lets the negative take nothing away that the positive asks for.',
  inputs: {
    model: link(MODEL),
    positive: link(CONDITIONING),
    negative: link(CONDITIONING),
    empty_conditioning: link(CONDITIONING),
    cfg: cfgScale(),
    neg_scale: widget(float({ default: 1, min: 0, max: 100, step: 0.01 })),
  },
  outputs: [GUIDER],
  run: ({ model, positive, negative, empty_conditioning, cfg, neg_scale }) => [
    createPerpendicularGuider({ model, positive, negative, empty: empty_conditioning, cfg, negativeScale: neg_scale }),
  ],
})
