import { link, named } from '../graph/node.ts'
import { tangentialGuidance } from '../sampling/hooks/tangential.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'TCFG',
  category: 'advanced/guidance',
  module: 'comfy_extras.nodes_tcfg',
  title: 'Tangential Guidance',
  description: 'Keeps of the negative only what lies along the direction it shares with the positive.',
  inputs: { model: link(MODEL) },
  outputs: [named(MODEL, 'patched_model')],
  run: ({ model }) => [withHook(model, tangentialGuidance)],
})
