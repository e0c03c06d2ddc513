import { link } from '../graph/node.ts'
import { zeros } from '../tensor/tensor.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

export default defineNode({
  type: 'ConditioningZeroOut',
  category: 'advanced/conditioning',
  title: 'Empty Conditioning',
  description: 'Replaces an encoded text by noughts, which some models were trained to take for no text at all.',
  inputs: { conditioning: link(CONDITIONING) },
  outputs: [CONDITIONING],
  run: ({ conditioning }) => [
    conditioning.map((entry) => ({
      ...entry,
      context: zeros(entry.context.dims),
      pooled: entry.pooled && zeros(entry.pooled.dims),
    })),
  ],
})
