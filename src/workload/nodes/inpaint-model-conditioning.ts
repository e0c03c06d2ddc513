import { link, named, widget } from '../graph/node.ts'
import { boolean } from '../graph/widget.ts'
import { resized } from '../tensor/resize.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { rowsOf } from '../tensor/rows.ts'
import { mapped, reshaped } from '../tensor/tensor.ts'
import { croppedToCells } from './support/crop.ts'
import { CONDITIONING, defineNode, IMAGE, LATENT, MASK, VAE } from './support/define.ts'
import { greyed } from './support/greyed.ts'
import { withChannel } from './support/mask.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'InpaintModelConditioning',
  category: 'conditioning/inpaint',
  title: 'Conditioning for Inpainting Models',
  description: 'Shows an inpainting model the picture with its masked part greyed out, and the mask.',
  inputs: {
    positive: link(CONDITIONING),
    negative: link(CONDITIONING),
    vae: link(VAE),
    pixels: link(IMAGE),
    mask: link(MASK),
    noise_mask: widget(boolean({ default: true })),
  },
  outputs: [named(CONDITIONING, 'positive'), named(CONDITIONING, 'negative'), named(LATENT, 'latent')],
  async run({ positive, negative, vae, pixels, mask, noise_mask }) {
    const encoder = present(vae, 'autoencoder')
    const [, height = 0, width = 0] = pixels.dims
    const sized = resized(withChannel(mask), width, height, 'bilinear', 'disabled')
    const cut = croppedToCells(reshaped(sized, [rowsOf(sized), height, width]), encoder.downscale)
    const picture = croppedToCells(pixels, encoder.downscale)
    const concat = { latent: await encoder.encode(greyed(picture, mapped(cut, roundHalfEven))), mask: cut }
    const samples = await encoder.encode(picture)
    const shown = (conditioning: typeof positive) => conditioning.map((entry) => ({ ...entry, concat }))
    return [shown(positive), shown(negative), noise_mask ? { samples, noiseMask: withChannel(cut) } : { samples }]
  },
})
