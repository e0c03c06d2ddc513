import { link } from '../graph/node.ts'
import { reshaped } from '../tensor/tensor.ts'
import { defineNode, LATENT, MASK } from './support/define.ts'

export default defineNode({
  type: 'SetLatentNoiseMask',
  category: 'latent/inpaint',
  title: 'Limit Sampling to Mask',
  description: 'Limits sampling to where the mask is white.',
  inputs: { samples: link(LATENT), mask: link(MASK) },
  outputs: [LATENT],
  run({ samples: latent, mask }) {
    const [height = 0, width = 0] = mask.dims.slice(-2)
    const noiseMask = reshaped(mask, [mask.data.length / (height * width), 1, height, width])
    return [{ ...latent, noiseMask }]
  },
})
