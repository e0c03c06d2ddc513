import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { scaled } from '../tensor/tensor.ts'
import { defineNode, LATENT } from './support/define.ts'

export default defineNode({
  type: 'LatentMultiply',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Multiply Latents',
  description: 'Multiplies latents with a number.',
  inputs: { samples: link(LATENT), multiplier: widget(float({ default: 1, min: -10, max: 10, step: 0.01 })) },
  outputs: [LATENT],
  run: ({ samples: latent, multiplier }) => [{ ...latent, samples: scaled(latent.samples, multiplier) }],
})
