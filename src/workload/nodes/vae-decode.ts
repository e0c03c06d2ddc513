import { link } from '../graph/node.ts'
import { defineNode, IMAGE, LATENT, VAE } from './support/define.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'VAEDecode',
  category: 'latent',
  title: 'Latents to Image',
  description: 'Turns latents into pixels.',
  inputs: { samples: link(LATENT), vae: link(VAE) },
  outputs: [IMAGE],
  run: async ({ samples: { samples }, vae }) => [await present(vae, 'autoencoder').decode(samples)],
})
