import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { resized } from '../tensor/resize.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { rowsOf } from '../tensor/rows.ts'
import { mapped, reshaped } from '../tensor/tensor.ts'
import { croppedToCells } from './support/crop.ts'
import { defineNode, IMAGE, LATENT, MASK, VAE } from './support/define.ts'
import { greyed } from './support/greyed.ts'
import { grown } from './support/grow-mask.ts'
import { withChannel } from './support/mask.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'VAEEncodeForInpaint',
  category: 'latent/inpaint',
  title: 'Image to Latents for Inpainting',
  description: 'Turns pixels into latents with the masked part greyed out, to be drawn anew.',
  inputs: {
    pixels: link(IMAGE),
    vae: link(VAE),
    mask: link(MASK),
    grow_mask_by: widget(int({ default: 6, min: 0, max: 64, step: 1 })),
  },
  outputs: [LATENT],
  async run({ pixels, vae, mask, grow_mask_by }) {
    const encoder = present(vae, 'autoencoder')
    const [, height = 0, width = 0] = pixels.dims
    const sized = resized(withChannel(mask), width, height, 'bilinear', 'disabled')
    const cut = croppedToCells(reshaped(sized, [rowsOf(sized), height, width]), encoder.downscale)
    const rounded = mapped(cut, roundHalfEven)
    return [
      {
        samples: await encoder.encode(greyed(croppedToCells(pixels, encoder.downscale), rounded)),
        noiseMask: withChannel(mapped(grown(rounded, grow_mask_by), roundHalfEven)),
      },
    ]
  },
})
