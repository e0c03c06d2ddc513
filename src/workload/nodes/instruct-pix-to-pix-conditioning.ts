import { link, named } from '../graph/node.ts'
import { zeros } from '../tensor/tensor.ts'
import { croppedToCells } from './support/crop.ts'
import { CONDITIONING, defineNode, IMAGE, LATENT, VAE } from './support/define.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'InstructPixToPixConditioning',
  category: 'conditioning/instructpix2pix',
  title: 'Conditioning for Instruction Models',
  description: 'Shows a model that follows instructions the picture it is to change.',
  module: 'comfy_extras.nodes_ip2p',
  inputs: { positive: link(CONDITIONING), negative: link(CONDITIONING), vae: link(VAE), pixels: link(IMAGE) },
  outputs: [named(CONDITIONING, 'positive'), named(CONDITIONING, 'negative'), named(LATENT, 'latent')],
  async run({ positive, negative, vae, pixels }) {
    const encoder = present(vae, 'autoencoder')
    const latent = await encoder.encode(croppedToCells(pixels, encoder.downscale))
    const shown = (conditioning: typeof positive) => conditioning.map((entry) => ({ ...entry, concat: { latent } }))
    return [shown(positive), shown(negative), { samples: zeros(latent.dims) }]
  },
})
