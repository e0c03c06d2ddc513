import { link, widget } from '../../graph/node.ts'
import { choice, float, int } from '../../graph/widget.ts'
import { type Catalogue, CONDITIONING, LATENT } from './define.ts'

/** The inputs that every KSampler has behind its model and seed, in ComfyUI's order. */
export const samplerInputs = ({ samplers, schedulers }: Catalogue) => ({
  steps: widget(int({ default: 20, min: 1, max: 10_000 })),
  cfg: widget(float({ default: 8, min: 0, max: 100, step: 0.1, round: 0.01 })),
  sampler_name: widget(choice([...samplers.keys()])),
  scheduler: widget(choice([...schedulers.keys()])),
  positive: link(CONDITIONING),
  negative: link(CONDITIONING),
  latent_image: link(LATENT),
})
