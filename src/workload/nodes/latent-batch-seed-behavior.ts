import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { rowsOf } from '../tensor/rows.ts'
import { defineNode, LATENT } from './support/define.ts'
import { batchIndexOf } from './support/latents.ts'

export default defineNode({
  type: 'LatentBatchSeedBehavior',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced',
  title: 'Noise within Batch',
  description: 'Says whether the latents of a batch all get the same noise or each its own.',
  inputs: {
    samples: link(LATENT),
    seed_behavior: widget({ ...choice(['random', 'fixed'], { default: 'fixed' }), named: true }),
  },
  outputs: [LATENT],
  run({ samples: latent, seed_behavior }) {
    const { batchIndex: _, ...others } = latent
    if (seed_behavior === 'random') return [others]
    const [first = 0] = batchIndexOf(latent)
    return [{ ...others, batchIndex: Array.from({ length: rowsOf(latent.samples) }, () => first) }]
  },
})
