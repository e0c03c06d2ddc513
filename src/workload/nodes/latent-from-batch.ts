import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { repeatRows, rowsOf, takeRows } from '../tensor/rows.ts'
import { defineNode, LATENT } from './support/define.ts'
import { batchIndexOf } from './support/latents.ts'

export default defineNode({
  type: 'LatentFromBatch',
  category: 'latent/batch',
  title: 'Take Latents from Batch',
  description: 'Takes some latents out of a batch; each keeps the noise it would have had there.',
  inputs: {
    samples: link(LATENT),
    batch_index: widget(int({ default: 0, min: 0, max: 63 })),
    length: widget(int({ default: 1, min: 1, max: 64 })),
  },
  outputs: [LATENT],
  run({ samples: latent, batch_index, length }) {
    const { samples, noiseMask } = latent
    const rows = rowsOf(samples)
    const from = Math.min(rows - 1, batch_index)
    const to = Math.min(rows, from + length)
    return [
      {
        ...latent,
        samples: takeRows(samples, from, to),
        batchIndex: batchIndexOf(latent).slice(from, to),
        ...(noiseMask && rowsOf(noiseMask) > 1 && { noiseMask: takeRows(repeatRows(noiseMask, rows), from, to) }),
      },
    ]
  },
})
