import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { resized } from '../tensor/resize.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, LATENT, MAX_RESOLUTION } from './support/define.ts'
import { CROPS, LATENT_METHODS } from './support/resize.ts'

/** Pixels a latent cell, and the smallest side in pixels that upstream scales to. */
const CELL = 8
const SMALLEST = 64
const side = widget(int({ default: 512, min: 0, max: MAX_RESOLUTION, step: CELL }))

export default defineNode({
  type: 'LatentUpscale',
  category: 'latent',
  title: 'Resize Latents',
  description: 'Brings latents to a size given in pixels; a side of 0 follows from the other.',
  inputs: {
    samples: link(LATENT),
    upscale_method: widget(choice(LATENT_METHODS)),
    width: side,
    height: side,
    crop: widget(choice(CROPS)),
  },
  outputs: [LATENT],
  run({ samples: latent, upscale_method, width, height, crop }) {
    if (width === 0 && height === 0) return [latent]
    const [, , oldHeight = 0, oldWidth = 0] = latent.samples.dims
    const atLeast = (pixels: number) => Math.max(SMALLEST, pixels)
    const [givenWidth, givenHeight] = [atLeast(width), atLeast(height)]
    const w = width === 0 ? atLeast(roundHalfEven((oldWidth * givenHeight) / oldHeight)) : givenWidth
    const h = height === 0 ? atLeast(roundHalfEven((oldHeight * givenWidth) / oldWidth)) : givenHeight
    const [columns, rows] = [Math.floor(w / CELL), Math.floor(h / CELL)]
    return [{ ...latent, samples: resized(latent.samples, columns, rows, upscale_method, crop) }]
  },
})
