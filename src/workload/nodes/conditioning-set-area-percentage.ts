import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { withArea } from './support/conditioning.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

const share = (initial: number) => widget(float({ default: initial, min: 0, max: 1, step: 0.01 }))

export default defineNode({
  type: 'ConditioningSetAreaPercentage',
  category: 'conditioning',
  title: 'Limit Conditioning to Part',
  description: "Lets a conditioning steer a rectangle of the picture only; in fractions of the picture's sides.",
  inputs: {
    conditioning: link(CONDITIONING),
    width: share(1),
    height: share(1),
    x: share(0),
    y: share(0),
    strength: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
  },
  outputs: [CONDITIONING],
  run: ({ conditioning, width, height, x, y, strength }) => [
    withArea(conditioning, { unit: 'share', height, width, y, x }, strength),
  ],
})
