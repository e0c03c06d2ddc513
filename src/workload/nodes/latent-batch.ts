import { link } from '../graph/node.ts'
import { rowsOf, stackRows } from '../tensor/rows.ts'
import { defineNode, LATENT } from './support/define.ts'
import { batchIndexOf, requireEqual, sizedLike } from './support/latents.ts'

export default defineNode({
  type: 'LatentBatch',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/batch',
  title: 'Join Latents to Batch',
  description: 'Makes one batch of two; the second takes the size of the first.',
  inputs: { samples1: link(LATENT), samples2: link(LATENT) },
  outputs: [LATENT],
  run({ samples1: first, samples2: second }) {
    requireEqual('channels', first.samples.dims[1], second.samples.dims[1])
    const parts = [first.samples, sizedLike(second.samples, first.samples)]
    const rows = parts.reduce((sum, part) => sum + rowsOf(part), 0)
    const batchIndex = [...batchIndexOf(first), ...batchIndexOf(second)]
    return [{ ...first, samples: stackRows(parts, rows), batchIndex }]
  },
})
