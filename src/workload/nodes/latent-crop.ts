import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { slicedAlong } from '../tensor/axes.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { defineNode, LATENT, MAX_RESOLUTION } from './support/define.ts'
import { CELL } from './support/latents.ts'

const side = widget(int({ default: 512, min: 64, max: MAX_RESOLUTION, step: CELL }))
const place = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: CELL }))
/** Cells of what is left at least, where the latents have as many. */
const SMALLEST = 8

export default defineNode({
  type: 'LatentCrop',
  category: 'latent/transform',
  title: 'Cut out Latents',
  description: 'Cuts a rectangle out of latents, given in pixels.',
  inputs: { samples: link(LATENT), width: side, height: side, x: place, y: place },
  outputs: [LATENT],
  run({ samples: latent, width, height, x, y }) {
    const columns = cutAlong(latent.samples, 3, x, width)
    return [{ ...latent, samples: cutAlong(columns, 2, y, height) }]
  },
})

function cutAlong(latents: Tensor, axis: number, place: number, side: number): Tensor {
  const length = latents.dims[axis]!
  const from = Math.max(0, Math.min(Math.floor(place / CELL), length - SMALLEST))
  return slicedAlong(latents, axis, from, Math.min(length, from + Math.floor(side / CELL)))
}
