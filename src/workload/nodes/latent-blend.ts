import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { combined } from '../tensor/tensor.ts'
import { defineNode, LATENT } from './support/define.ts'
import { requireEqual } from './support/latents.ts'

export default defineNode({
  type: 'LatentBlend',
  category: '_for_testing',
  title: 'Blend Latents',
  description: 'Mixes two latents of one shape; at 1 the first alone remains.',
  inputs: {
    samples1: link(LATENT),
    samples2: link(LATENT),
    blend_factor: widget(float({ default: 0.5, min: 0, max: 1, step: 0.01 })),
  },
  outputs: [LATENT],
  run({ samples1: first, samples2: { samples: second }, blend_factor: share }) {
    requireEqual('shapes', first.samples.dims.join('×'), second.dims.join('×'))
    return [{ ...first, samples: combined([share, first.samples], [1 - share, second]) }]
  },
})
