import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { withControl } from './support/control.ts'
import { CONDITIONING, CONTROL_NET, defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'ControlNetApply',
  category: 'conditioning/controlnet',
  title: 'Steer by Picture (old)',
  description: 'Lets a control network steer by a picture, the negative text as well; the advanced node can do more.',
  deprecated: true,
  inputs: {
    conditioning: link(CONDITIONING),
    control_net: link(CONTROL_NET),
    image: link(IMAGE),
    strength: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
  },
  outputs: [CONDITIONING],
  run({ conditioning, control_net: control, image, strength }) {
    if (strength === 0) return [conditioning]
    const settings = { control, image, strength, range: { start: 0, end: 1 }, alsoNegative: true }
    return [withControl([conditioning], settings)[0]!]
  },
})
