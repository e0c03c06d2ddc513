import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { croppedToCells } from './support/crop.ts'
import { defineNode, IMAGE, LATENT, VAE } from './support/define.ts'
import { present } from './support/present.ts'
import { temporalInputs } from './support/tiles.ts'

export default defineNode({
  type: 'VAEEncodeTiled',
  category: '_for_testing',
  title: 'Image to Latents in Tiles',
  description: 'Turns pixels into latents piece by piece, for pictures that do not fit into the memory.',
  inputs: {
    pixels: link(IMAGE),
    vae: link(VAE),
    tile_size: widget(int({ default: 512, min: 64, max: 4096, step: 64 })),
    overlap: widget(int({ default: 64, min: 0, max: 4096, step: 32 })),
    ...temporalInputs,
  },
  outputs: [LATENT],
  async run({ pixels, vae, tile_size: size, overlap }) {
    const encoder = present(vae, 'autoencoder')
    return [{ samples: await encoder.encode(croppedToCells(pixels, encoder.downscale), { size, overlap }) }]
  },
})
