import { link } from '../graph/node.ts'
import { defineNode, LATENT, MASK } from './support/define.ts'
import { withChannel } from './support/mask.ts'

export default defineNode({
  type: 'SetLatentNoiseMask',
  category: 'latent/inpaint',
  title: 'Limit Sampling to Mask',
  description: 'Limits sampling to where the mask is white.',
  inputs: { samples: link(LATENT), mask: link(MASK) },
  outputs: [LATENT],
  run: ({ samples: latent, mask }) => [{ ...latent, noiseMask: withChannel(mask) }],
})
