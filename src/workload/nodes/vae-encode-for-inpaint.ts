import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { resized } from '../tensor/resize.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { repeatRows, rowsOf } from '../tensor/rows.ts'
import { mapped, reshaped, type Tensor } from '../tensor/tensor.ts'
import { croppedToCells } from './support/crop.ts'
import { defineNode, IMAGE, LATENT, MASK, VAE } from './support/define.ts'
import { grown } from './support/grow-mask.ts'
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

/** `[N, H, W]` or `[H, W]` → `[N, 1, H, W]` */
function withChannel(mask: Tensor): Tensor {
  const [height = 0, width = 0] = mask.dims.slice(-2)
  return reshaped(mask, [mask.data.length / (height * width), 1, height, width])
}

/** Pixels `[N, H, W, C]` where `mask` `[M, H, W]` is 0, mid-grey where it is 1. */
function greyed(pixels: Tensor, mask: Tensor): Tensor {
  const channels = pixels.dims[3]!
  const { data } = repeatRows(mask, rowsOf(pixels))
  return mapped(pixels, (value, i) => (value - 0.5) * (1 - data[Math.floor(i / channels)]!) + 0.5)
}
