import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { joinedAlong } from '../tensor/axes.ts'
import { repeatRows, rowsOf } from '../tensor/rows.ts'
import { defineNode, LATENT } from './support/define.ts'
import { axisOf, requireEqual } from './support/latents.ts'

export default defineNode({
  type: 'LatentConcat',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Put Latents side by side',
  description: 'Puts the second latents to the right of or below the first, or before them with a minus.',
  inputs: {
    samples1: link(LATENT),
    samples2: link(LATENT),
    dim: widget({ ...choice(['x', '-x', 'y', '-y', 't', '-t']), named: true }),
  },
  outputs: [LATENT],
  run({ samples1: first, samples2, dim }) {
    const axis = axisOf(dim.at(-1) as 'x' | 'y' | 't') // what is left of a choice without its minus
    const second = repeatRows(samples2.samples, rowsOf(first.samples))
    const others = (dims: readonly number[]) => dims.filter((_, i) => i !== axis).join('×')
    requireEqual('other sides', others(first.samples.dims), others(second.dims))
    const parts = dim.startsWith('-') ? [second, first.samples] : [first.samples, second]
    return [{ ...first, samples: joinedAlong(parts, axis) }]
  },
})
