import { widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { zeros } from '../tensor/tensor.ts'
import { defineNode, LATENT, MAX_RESOLUTION } from './support/define.ts'
import { CELL } from './support/latents.ts'

const side = () => widget(int({ default: 1024, min: 16, max: MAX_RESOLUTION, step: 16 }))

export default defineNode({
  type: 'EmptySD3LatentImage',
  module: 'comfy_extras.nodes_sd3',
  category: 'latent/sd3',
  title: 'Blank Latents of 16 Channels',
  description: 'A blank canvas of latents with 16 channels; models of another number take it as theirs.',
  inputs: { width: side(), height: side(), batch_size: widget(int({ default: 1, min: 1, max: 4096 })) },
  outputs: [LATENT],
  run: ({ width, height, batch_size }) => [
    { samples: zeros([batch_size, 16, Math.floor(height / CELL), Math.floor(width / CELL)]) },
  ],
})
