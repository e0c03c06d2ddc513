import { link, widget } from '../graph/node.ts'
import { boolean, int } from '../graph/widget.ts'
import { dilated, eroded } from '../tensor/rank.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import { defineNode, MASK, MAX_RESOLUTION } from './support/define.ts'
import { shapeOf } from './support/picture.ts'

export default defineNode({
  type: 'GrowMask',
  category: 'mask',
  title: 'Grow or Shrink Mask',
  description:
    'Widens a mask by some pixels, or shrinks it when they are negative; by steps that leave out the corners or by squares.',
  module: 'comfy_extras.nodes_mask',
  inputs: {
    mask: link(MASK),
    expand: widget(int({ default: 0, min: -MAX_RESOLUTION, max: MAX_RESOLUTION, step: 1 })),
    tapered_corners: widget(boolean({ default: true })),
  },
  outputs: [MASK],
  run({ mask, expand, tapered_corners }) {
    const steps = Math.abs(expand)
    if (tapered_corners) return [crossed(mask, steps, Math.sign(expand))]
    // As many steps of 3 × 3 as one of a larger square.
    const reach = { before: steps, after: steps }
    return [expand < 0 ? eroded(mask, reach) : dilated(mask, reach)]
  },
})

/** `steps` times the largest (`sign` 1) or smallest (-1) of a pixel and its four neighbours; ends when nothing moves. */
function crossed(mask: Tensor, steps: number, sign: number): Tensor {
  const { height, width } = shapeOf(mask)
  let data = mask.data
  for (let step = 0; step < steps; step++) {
    const next = new Float32Array(data.length)
    let moved = false
    for (let i = 0; i < data.length; i++) {
      const [x, y] = [i % width, Math.floor(i / width) % height]
      const own = data[i]!
      let best = own
      if (x > 0 && (data[i - 1]! - best) * sign > 0) best = data[i - 1]!
      if (x < width - 1 && (data[i + 1]! - best) * sign > 0) best = data[i + 1]!
      if (y > 0 && (data[i - width]! - best) * sign > 0) best = data[i - width]!
      if (y < height - 1 && (data[i + width]! - best) * sign > 0) best = data[i + width]!
      next[i] = best
      moved ||= best !== own
    }
    data = next
    if (!moved) break
  }
  return tensor(mask.dims, data)
}
