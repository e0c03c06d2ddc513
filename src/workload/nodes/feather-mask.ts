import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { mapped } from '../tensor/tensor.ts'
import { defineNode, MASK, MAX_RESOLUTION } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

const length = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'FeatherMask',
  category: 'mask',
  title: 'Soften Edges of Mask',
  description: 'Fades a mask out towards its edges.',
  module: 'comfy_extras.nodes_mask',
  inputs: { mask: link(MASK), left: length, top: length, right: length, bottom: length },
  outputs: [MASK],
  run({ mask, left, top, right, bottom }) {
    const { height, width } = shapeOf(mask)
    const across = fades(width, left, right)
    const down = fades(height, top, bottom)
    return [mapped(mask, (value, i) => value * across[i % width]! * down[Math.floor(i / width) % height]!)]
  },
})

/**
 * What each of `length` places is multiplied by. The far edge counts from its end as Python does, where place -0 is the
 * first and not the last: upstream's slip, kept for equal pictures.
 */
function fades(length: number, near: number, far: number): Float64Array {
  const factors = new Float64Array(length).fill(1)
  const [reach, farReach] = [Math.min(length, near), Math.min(length, far)]
  for (let i = 0; i < reach; i++) factors[i]! *= (i + 1) / reach
  for (let i = 0; i < farReach; i++) factors[(length - i) % length]! *= (i + 1) / farReach
  return factors
}
