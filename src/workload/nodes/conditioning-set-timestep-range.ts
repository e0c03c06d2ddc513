import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

export default defineNode({
  type: 'ConditioningSetTimestepRange',
  category: 'advanced/conditioning',
  title: 'Limit Conditioning to Part of Run',
  description: 'Lets a conditioning steer from one fraction of the run to another only.',
  inputs: {
    conditioning: link(CONDITIONING),
    start: widget(float({ default: 0, min: 0, max: 1, step: 0.001 })),
    end: widget(float({ default: 1, min: 0, max: 1, step: 0.001 })),
  },
  outputs: [CONDITIONING],
  run: ({ conditioning, start, end }) => [conditioning.map((entry) => ({ ...entry, range: { start, end } }))],
})
