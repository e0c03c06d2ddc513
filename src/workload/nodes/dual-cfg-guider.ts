import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { createDualCfgGuider } from '../sampling/dual-guidance.ts'
import { CONDITIONING, defineNode, GUIDER, MODEL } from './support/define.ts'
import { cfgScale, customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'DualCFGGuider',
  category: 'sampling/custom_sampling/guiders',
  module: customSampler,
  title: 'Guider with Two Conditionings',
  description: 'Goes from the negative to a second conditioning, and from there to the first, each by its own scale.',
  inputs: {
    model: link(MODEL),
    cond1: link(CONDITIONING),
    cond2: link(CONDITIONING),
    negative: link(CONDITIONING),
    cfg_conds: cfgScale(),
    cfg_cond2_negative: cfgScale(),
    style: widget(choice(['regular', 'nested'])),
  },
  outputs: [GUIDER],
  run: ({ model, cond1, cond2, negative, cfg_conds, cfg_cond2_negative, style }) => [
    createDualCfgGuider({
      model,
      positive: cond1,
      middle: cond2,
      negative,
      positiveCfg: cfg_conds,
      middleCfg: cfg_cond2_negative,
      nested: style === 'nested',
    }),
  ],
})
