import { widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { zeros } from '../tensor/tensor.ts'
import { defineNode, LATENT, MAX_RESOLUTION } from './support/define.ts'

const side = () => widget(int({ default: 512, min: 16, max: MAX_RESOLUTION, step: 8 }))

export default defineNode({
  type: 'EmptyLatentImage',
  category: 'latent',
  title: 'Blank Latents',
  description: 'A blank canvas of latents to draw on; sides in pixels.',
  inputs: { width: side(), height: side(), batch_size: widget(int({ default: 1, min: 1, max: 4096 })) },
  outputs: [LATENT],
  run: ({ width, height, batch_size }) => [
    { samples: zeros([batch_size, 4, Math.floor(height / 8), Math.floor(width / 8)]) },
  ],
})
