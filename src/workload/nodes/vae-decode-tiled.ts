import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { defineNode, IMAGE, LATENT, VAE } from './support/define.ts'
import { present } from './support/present.ts'
import { temporalInputs } from './support/tiles.ts'

export default defineNode({
  type: 'VAEDecodeTiled',
  category: '_for_testing',
  title: 'Latents to Image in Tiles',
  description: 'Turns latents into pixels piece by piece, for pictures that do not fit into the memory.',
  inputs: {
    samples: link(LATENT),
    vae: link(VAE),
    tile_size: widget(int({ default: 512, min: 64, max: 4096, step: 32 })),
    overlap: widget(int({ default: 64, min: 0, max: 4096, step: 32 })),
    ...temporalInputs,
  },
  outputs: [IMAGE],
  async run({ samples: { samples }, vae, tile_size: size, overlap }) {
    const shared = size < overlap * 4 ? Math.floor(size / 4) : overlap
    return [await present(vae, 'autoencoder').decode(samples, { size, overlap: shared })]
  },
})
