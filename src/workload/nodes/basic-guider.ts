import { link } from '../graph/node.ts'
import { createBasicGuider } from '../sampling/guidance.ts'
import { CONDITIONING, defineNode, GUIDER, MODEL } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'BasicGuider',
  category: 'sampling/custom_sampling/guiders',
  module: customSampler,
  title: 'Guider without Negative',
  description: 'Takes what the model makes of a conditioning as it is.',
  inputs: { model: link(MODEL), conditioning: link(CONDITIONING) },
  outputs: [GUIDER],
  run: ({ model, conditioning }) => [createBasicGuider(model, conditioning)],
})
