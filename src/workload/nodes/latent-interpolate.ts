import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { combined, mapped, type Tensor } from '../tensor/tensor.ts'
import { defineNode, LATENT } from './support/define.ts'
import { magnitudes, shapedLike } from './support/latents.ts'

export default defineNode({
  type: 'LatentInterpolate',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Interpolate Latents',
  description: 'Goes from the second latents to the first, directions and magnitudes apart; for a single picture.',
  inputs: {
    samples1: link(LATENT),
    samples2: link(LATENT),
    ratio: widget(float({ default: 1, min: 0, max: 1, step: 0.01 })),
  },
  outputs: [LATENT],
  run({ samples1: first, samples2: { samples: second }, ratio }) {
    const a = first.samples
    // Upstream divides by magnitudes without a channel axis, which only a batch of one survives.
    if (a.dims[0] !== 1) throw new Error(`latents are interpolated one picture at a time, not ${a.dims[0]}`)
    const b = shapedLike(second, a)
    const [sizesA, sizesB] = [magnitudes(a), magnitudes(b)]
    const direction = combined([ratio, perMagnitude(a, sizesA)], [1 - ratio, perMagnitude(b, sizesB)])
    const sizes = combined([ratio, sizesA], [1 - ratio, sizesB]).data
    const unit = perMagnitude(direction, magnitudes(direction))
    return [{ ...first, samples: mapped(unit, (value, i) => value * sizes[i % sizes.length]!) }]
  },
})

/** `t` `[1, C, H, W]` over its magnitudes, 0 where there is none. */
const perMagnitude = (t: Tensor, { data }: Tensor): Tensor =>
  mapped(t, (value, i) => value / data[i % data.length]! || 0)
