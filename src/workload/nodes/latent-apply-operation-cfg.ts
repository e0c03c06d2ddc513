import { link } from '../graph/node.ts'
import { operatedGuidance } from '../sampling/hooks/latent-operation.ts'
import { defineNode, LATENT_OPERATION, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'LatentApplyOperationCFG',
  category: 'latent/advanced/operations',
  module: 'comfy_extras.nodes_latent',
  experimental: true,
  title: 'Change Guidance by Operation',
  description: 'Applies an operation on latents to the difference that guidance makes, at every step.',
  inputs: { model: link(MODEL), operation: link(LATENT_OPERATION) },
  outputs: [MODEL],
  run: ({ model, operation }) => [withHook(model, operatedGuidance(operation))],
})
