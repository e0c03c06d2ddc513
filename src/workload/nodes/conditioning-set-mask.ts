import { link, widget } from '../graph/node.ts'
import { choice, float } from '../graph/widget.ts'
import { CONDITIONING, defineNode, MASK } from './support/define.ts'

export default defineNode({
  type: 'ConditioningSetMask',
  category: 'conditioning',
  title: 'Limit Conditioning to Mask',
  description: 'Lets a conditioning steer where a mask is white; the model may be shown that part of the picture only.',
  inputs: {
    conditioning: link(CONDITIONING),
    mask: link(MASK),
    strength: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
    set_cond_area: widget(choice(['default', 'mask bounds'])),
  },
  outputs: [CONDITIONING],
  run: ({ conditioning, mask, strength, set_cond_area }) => [
    conditioning.map((entry) => ({ ...entry, mask: { mask, strength, toBounds: set_cond_area !== 'default' } })),
  ],
})
