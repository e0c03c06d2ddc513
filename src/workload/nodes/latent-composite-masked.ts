import { link, optional, widget } from '../graph/node.ts'
import { boolean, int } from '../graph/widget.ts'
import { composited } from './support/composite.ts'
import { defineNode, LATENT, MASK, MAX_RESOLUTION } from './support/define.ts'
import { CELL } from './support/latents.ts'

const place = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: CELL }))

export default defineNode({
  type: 'LatentCompositeMasked',
  module: 'comfy_extras.nodes_mask',
  category: 'latent',
  title: 'Lay Latents over Latents by Mask',
  description: 'Lays latents over others where a mask is white; the place is in pixels.',
  inputs: {
    destination: link(LATENT),
    source: link(LATENT),
    x: place,
    y: place,
    resize_source: widget(boolean({ default: false })),
    mask: optional(link(MASK)),
  },
  outputs: [LATENT],
  run({ destination, source, x, y, resize_source: resizeSource, mask }) {
    const placement = { x, y, cell: CELL, resizeSource, mask }
    return [{ ...destination, samples: composited(destination.samples, source.samples, placement) }]
  },
})
