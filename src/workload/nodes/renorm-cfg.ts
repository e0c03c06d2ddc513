import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { renormedGuidance } from '../sampling/hooks/renorm.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'RenormCFG',
  category: 'advanced/model',
  module: 'comfy_extras.nodes_lumina2',
  title: 'Renormalised Guidance',
  description: 'Guides below a noise level only, and limits how strong guided guesses become; a limit of 0 is none.',
  inputs: {
    model: link(MODEL),
    cfg_trunc: widget(float({ default: 100, min: 0, max: 100, step: 0.01 })),
    renorm_cfg: widget(float({ default: 1, min: 0, max: 100, step: 0.01 })),
  },
  outputs: [MODEL],
  run: ({ model, cfg_trunc, renorm_cfg }) => [withHook(model, renormedGuidance(cfg_trunc, renorm_cfg))],
})
