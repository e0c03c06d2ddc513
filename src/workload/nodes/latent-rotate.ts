import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { turned } from '../tensor/turn.ts'
import { defineNode, LATENT } from './support/define.ts'

const ROTATIONS = ['none', '90 degrees', '180 degrees', '270 degrees'] as const

export default defineNode({
  type: 'LatentRotate',
  category: 'latent/transform',
  title: 'Turn Latents',
  description: 'Turns latents clockwise; a noise mask stays as it is.',
  inputs: { samples: link(LATENT), rotation: widget(choice(ROTATIONS)) },
  outputs: [LATENT],
  run: ({ samples: latent, rotation }) => [
    { ...latent, samples: turned(latent.samples, 2, ROTATIONS.indexOf(rotation)) },
  ],
})
