import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { slicedAlong } from '../tensor/axes.ts'
import { defineNode, LATENT, MAX_RESOLUTION } from './support/define.ts'
import { axisOf } from './support/latents.ts'

export default defineNode({
  type: 'LatentCut',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Cut Strip from Latents',
  description: 'Cuts a strip out of latents, in cells; a negative index counts from the end.',
  inputs: {
    samples: link(LATENT),
    dim: widget({ ...choice(['x', 'y', 't']), named: true }),
    index: widget(int({ default: 0, min: -MAX_RESOLUTION, max: MAX_RESOLUTION, step: 1 })),
    amount: widget(int({ default: 1, min: 1, max: MAX_RESOLUTION, step: 1 })),
  },
  outputs: [LATENT],
  run({ samples: latent, dim, index, amount }) {
    const axis = axisOf(dim)
    const length = latent.samples.dims[axis]!
    const from = index >= 0 ? Math.min(index, length - 1) : Math.max(0, length + index)
    return [{ ...latent, samples: slicedAlong(latent.samples, axis, from, Math.min(length, from + amount)) }]
  },
})
