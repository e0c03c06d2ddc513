import { link } from '../graph/node.ts'
import { createCfgGuider } from '../sampling/guidance.ts'
import { CONDITIONING, defineNode, GUIDER, MODEL } from './support/define.ts'
import { cfgScale, customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'CFGGuider',
  category: 'sampling/custom_sampling/guiders',
  module: customSampler,
  title: 'Guider',
  description: 'Goes away from the negative towards the positive conditioning and beyond.',
  inputs: { model: link(MODEL), positive: link(CONDITIONING), negative: link(CONDITIONING), cfg: cfgScale() },
  outputs: [GUIDER],
  run: (guidance) => [createCfgGuider(guidance)],
})
