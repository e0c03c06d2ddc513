import { link } from '../graph/node.ts'
import { croppedToCells } from './support/crop.ts'
import { defineNode, IMAGE, LATENT, VAE } from './support/define.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'VAEEncode',
  category: 'latent',
  title: 'Image to Latents',
  description: 'Turns pixels into latents; sides are cut to multiples of eight.',
  inputs: { pixels: link(IMAGE), vae: link(VAE) },
  outputs: [LATENT],
  async run({ pixels, vae }) {
    const encoder = present(vae, 'autoencoder')
    return [{ samples: await encoder.encode(croppedToCells(pixels, encoder.downscale)) }]
  },
})
