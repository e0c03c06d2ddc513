import { link, widget } from '../graph/node.ts'
import { choice, float } from '../graph/widget.ts'
import { resized } from '../tensor/resize.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { defineNode, LATENT } from './support/define.ts'
import { LATENT_METHODS } from './support/resize.ts'

export default defineNode({
  type: 'LatentUpscaleBy',
  category: 'latent',
  title: 'Resize Latents by Factor',
  description: 'Enlarges or shrinks latents by a factor.',
  inputs: {
    samples: link(LATENT),
    upscale_method: widget(choice(LATENT_METHODS)),
    scale_by: widget(float({ default: 1.5, min: 0.01, max: 8, step: 0.01 })),
  },
  outputs: [LATENT],
  run({ samples: latent, upscale_method, scale_by }) {
    const [, , height = 0, width = 0] = latent.samples.dims
    const [w, h] = [roundHalfEven(width * scale_by), roundHalfEven(height * scale_by)]
    return [{ ...latent, samples: resized(latent.samples, w, h, upscale_method, 'disabled') }]
  },
})
