import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { flippedAlong } from '../tensor/axes.ts'
import { defineNode, LATENT } from './support/define.ts'

const METHODS = ['x-axis: vertically', 'y-axis: horizontally'] as const

export default defineNode({
  type: 'LatentFlip',
  category: 'latent/transform',
  title: 'Mirror Latents',
  description: 'Turns latents upside down, or left to right; a noise mask stays as it is.',
  inputs: { samples: link(LATENT), flip_method: widget(choice(METHODS)) },
  outputs: [LATENT],
  run: ({ samples: latent, flip_method }) => [
    { ...latent, samples: flippedAlong(latent.samples, 2 + METHODS.indexOf(flip_method)) },
  ],
})
