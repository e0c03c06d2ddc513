import { link } from '../graph/node.ts'
import { defineNode, LATENT, LATENT_OPERATION } from './support/define.ts'

export default defineNode({
  type: 'LatentApplyOperation',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced/operations',
  title: 'Apply Latent Operation',
  description: 'Applies an operation to latents.',
  experimental: true,
  inputs: { samples: link(LATENT), operation: link(LATENT_OPERATION) },
  outputs: [LATENT],
  run: ({ samples: latent, operation }) => [{ ...latent, samples: operation(latent.samples) }],
})
