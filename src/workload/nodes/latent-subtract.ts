import { link } from '../graph/node.ts'
import { addScaled } from '../tensor/tensor.ts'
import { defineNode, LATENT } from './support/define.ts'
import { shapedLike } from './support/latents.ts'

export default defineNode({
  type: 'LatentSubtract',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Subtract Latents',
  description: 'Takes the second latents, in the shape of the first, from the first.',
  inputs: { samples1: link(LATENT), samples2: link(LATENT) },
  outputs: [LATENT],
  run: ({ samples1: first, samples2: second }) => [
    { ...first, samples: addScaled(first.samples, shapedLike(second.samples, first.samples), -1) },
  ],
})
