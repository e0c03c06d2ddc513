import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

export default defineNode({
  type: 'ConditioningSetAreaStrength',
  category: 'conditioning',
  title: 'Weigh Conditioning',
  description: 'How much a conditioning counts beside others that steer the same part of the picture.',
  inputs: {
    conditioning: link(CONDITIONING),
    strength: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
  },
  outputs: [CONDITIONING],
  run: ({ conditioning, strength }) => [conditioning.map((entry) => ({ ...entry, strength }))],
})
