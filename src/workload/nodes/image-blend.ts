import { link, widget } from '../graph/node.ts'
import { choice, float } from '../graph/widget.ts'
import { rowsOf } from '../tensor/rows.ts'
import { mapped } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { broadcastRows, clamped, shapeOf, withChannels } from './support/picture.ts'
import { resizedImage } from './support/resize.ts'

/** How a lower value `a` and an upper one `b`, 0 to 1, meet. */
const MODES = {
  normal: (_, b) => b,
  multiply: (a, b) => a * b,
  screen: (a, b) => 1 - (1 - a) * (1 - b),
  overlay: (a, b) => (a <= 0.5 ? 2 * a * b : 1 - 2 * (1 - a) * (1 - b)),
  soft_light: (a, b) => (b <= 0.5 ? a - (1 - 2 * b) * a * (1 - a) : a + (2 * b - 1) * (lightened(a) - a)),
  difference: (a, b) => a - b,
} as const satisfies Readonly<Record<string, (a: number, b: number) => number>>

const lightened = (a: number): number => (a <= 0.25 ? ((16 * a - 12) * a + 4) * a : Math.sqrt(a))

export default defineNode({
  type: 'ImageBlend',
  category: 'image/postprocessing',
  title: 'Blend Pictures',
  description: 'Mixes a second picture, in the size of the first, into the first.',
  module: 'comfy_extras.nodes_post_processing',
  inputs: {
    image1: link(IMAGE),
    image2: link(IMAGE),
    blend_factor: widget(float({ default: 0.5, min: 0, max: 1, step: 0.01 })),
    blend_mode: widget({
      ...choice(['normal', 'multiply', 'screen', 'overlay', 'soft_light', 'difference']),
      named: true,
    }),
  },
  outputs: [IMAGE],
  run({ image1, image2, blend_factor, blend_mode }) {
    const { height, width, channels } = shapeOf(image1)
    const second = withChannels(image2, channels)
    const fits = shapeOf(second).height === height && shapeOf(second).width === width
    const sized = fits ? second : resizedImage(second, width, height, 'bicubic', 'center')
    const rows = Math.max(rowsOf(image1), rowsOf(sized))
    const lower = broadcastRows(image1, rows, 'image1')
    const upper = broadcastRows(sized, rows, 'image2').data
    const mix = MODES[blend_mode]
    return [clamped(mapped(lower, (a, i) => a * (1 - blend_factor) + mix(a, upper[i]!) * blend_factor))]
  },
})
