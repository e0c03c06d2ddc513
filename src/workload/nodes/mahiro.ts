import { link, named } from '../graph/node.ts'
import { alignedGuidance } from '../sampling/hooks/semantic.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'Mahiro',
  category: '_for_testing',
  module: 'comfy_extras.nodes_mahiro',
  experimental: true,
  title: 'Mahiro Guidance',
  description: 'Follows the positive the more, the less it and the negative look alike.',
  inputs: { model: link(MODEL) },
  outputs: [named(MODEL, 'patched_model')],
  run: ({ model }) => [withHook(model, alignedGuidance)],
})
