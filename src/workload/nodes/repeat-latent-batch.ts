import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { repeatRows, rowsOf } from '../tensor/rows.ts'
import { defineNode, LATENT } from './support/define.ts'

export default defineNode({
  type: 'RepeatLatentBatch',
  category: 'latent/batch',
  title: 'Repeat Latents',
  description: 'Repeats a batch of latents one behind the other; every repetition gets noise of its own.',
  inputs: { samples: link(LATENT), amount: widget(int({ default: 1, min: 1, max: 64 })) },
  outputs: [LATENT],
  run({ samples: latent, amount }) {
    const { samples, noiseMask, batchIndex } = latent
    const masks = noiseMask ? rowsOf(noiseMask) : 0
    return [
      {
        ...latent,
        samples: repeatRows(samples, rowsOf(samples) * amount),
        ...(noiseMask && masks > 1 && { noiseMask: repeatRows(noiseMask, masks * amount) }),
        ...(batchIndex && { batchIndex: repeatedIndex(batchIndex, amount) }),
      },
    ]
  },
})

/** The index `amount` times, each time moved on so far that no number comes twice. */
function repeatedIndex(index: readonly number[], amount: number): readonly number[] {
  const span = Math.max(...index) - Math.min(...index) + 1
  return Array.from({ length: amount }, (_, time) => index.map((row) => row + time * span)).flat()
}
