import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { channelsFirst, channelsLast } from '../tensor/channels.ts'
import { dilated, eroded, type Reach } from '../tensor/rank.ts'
import { combined, type Tensor } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'

type Filter = (t: Tensor) => Tensor

const minus = (a: Tensor, b: Tensor): Tensor => combined([1, a], [-1, b])

/** Grey-scale morphology from the two basic filters (Serra 1982). */
const OPERATIONS = {
  erode: (t, erode) => erode(t),
  dilate: (t, _, dilate) => dilate(t),
  open: (t, erode, dilate) => dilate(erode(t)),
  close: (t, erode, dilate) => erode(dilate(t)),
  gradient: (t, erode, dilate) => minus(dilate(t), erode(t)),
  bottom_hat: (t, erode, dilate) => minus(erode(dilate(t)), t),
  top_hat: (t, erode, dilate) => minus(t, dilate(erode(t))),
} as const satisfies Readonly<Record<string, (t: Tensor, erode: Filter, dilate: Filter) => Tensor>>

export default defineNode({
  type: 'Morphology',
  category: 'image/postprocessing',
  title: 'Grow or Shrink Bright Parts',
  description: 'Filters every channel by the brightest and darkest pixels of a square around each pixel.',
  module: 'comfy_extras.nodes_morphology',
  inputs: {
    image: link(IMAGE),
    operation: widget({
      ...choice(['erode', 'dilate', 'open', 'close', 'gradient', 'bottom_hat', 'top_hat']),
      named: true,
    }),
    kernel_size: widget(int({ default: 3, min: 3, max: 999, step: 1 })),
  },
  outputs: [IMAGE],
  run({ image, operation, kernel_size }) {
    const before = Math.floor(kernel_size / 2)
    const reach: Reach = { before, after: kernel_size - before - 1 }
    // An even square has no middle; the dilating one is the mirror image of the eroding one, or open would move parts.
    const mirrored: Reach = { before: reach.after, after: before }
    const filter = OPERATIONS[operation]
    const erode: Filter = (t) => eroded(t, reach)
    return [channelsLast(filter(channelsFirst(image), erode, (t) => dilated(t, mirrored)))]
  },
})
