import { link } from '../graph/node.ts'
import { addScaled } from '../tensor/tensor.ts'
import { defineNode, LATENT } from './support/define.ts'
import { shapedLike } from './support/latents.ts'

export default defineNode({
  type: 'LatentAdd',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Add Latents',
  description: 'Adds the second latents to the first, whose shape they take.',
  inputs: { samples1: link(LATENT), samples2: link(LATENT) },
  outputs: [LATENT],
  run: ({ samples1: first, samples2: second }) => [
    { ...first, samples: addScaled(first.samples, shapedLike(second.samples, first.samples), 1) },
  ],
})
