import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { resized } from '../tensor/resize.ts'
import { rowsOf } from '../tensor/rows.ts'
import { type Tensor, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { withChannel } from './support/mask.ts'
import { shapeOf } from './support/picture.ts'
import { OPERATORS } from './support/porter-duff.ts'
import { resizedImage } from './support/resize.ts'

/** Below this opacity a colour cannot be told any more. */
const TRANSPARENT = 1e-5

const MODES = [
  ...(['ADD', 'CLEAR', 'DARKEN', 'DST', 'DST_ATOP', 'DST_IN', 'DST_OUT', 'DST_OVER', 'LIGHTEN', 'MULTIPLY'] as const),
  ...(['OVERLAY', 'SCREEN', 'SRC', 'SRC_ATOP', 'SRC_IN', 'SRC_OUT', 'SRC_OVER', 'XOR'] as const),
] as const

export default defineNode({
  type: 'PorterDuffImageComposite',
  category: 'mask/compositing',
  title: 'Compose with Transparency',
  description: 'Composes two pictures with masks of what is transparent by an operator of Porter and Duff.',
  module: 'comfy_extras.nodes_compositing',
  inputs: {
    source: link(IMAGE),
    source_alpha: link(MASK),
    destination: link(IMAGE),
    destination_alpha: link(MASK),
    mode: widget({ ...choice(MODES, { default: 'DST' }), named: true }),
  },
  outputs: [IMAGE, MASK],
  run({ source, source_alpha, destination, destination_alpha, mode }) {
    const { height, width, channels } = shapeOf(destination)
    if (shapeOf(source).channels !== channels)
      throw new Error(
        `source has ${shapeOf(source).channels} channels, destination ${channels}: both must have as many`,
      )
    const rows = Math.min(...[source, source_alpha, destination, destination_alpha].map(rowsOf))
    const upper = sized(source, width, height).data
    const lower = destination.data
    const [upperMask, lowerMask] = [source_alpha, destination_alpha].map((mask) => sizedMask(mask, width, height))
    const { colour, alpha } = OPERATORS[mode]
    const [pixels, mask] = [zeros([rows, height, width, channels]), zeros([rows, height, width])]
    for (let i = 0; i < mask.data.length; i++) {
      const [sourceAlpha, destinationAlpha] = [1 - upperMask![i]!, 1 - lowerMask![i]!]
      const opacity = alpha(0, sourceAlpha, 0, destinationAlpha)
      mask.data[i] = 1 - opacity
      if (opacity <= TRANSPARENT) continue
      for (let at = i * channels; at < (i + 1) * channels; at++) {
        const mixed = colour(upper[at]! * sourceAlpha, sourceAlpha, lower[at]! * destinationAlpha, destinationAlpha)
        pixels.data[at] = Math.min(1, Math.max(0, mixed / opacity))
      }
    }
    return [pixels, mask]
  },
})

function sized(image: Tensor, width: number, height: number): Tensor {
  const own = shapeOf(image)
  return own.width === width && own.height === height ? image : resizedImage(image, width, height, 'bicubic', 'center')
}

function sizedMask(mask: Tensor, width: number, height: number): Float32Array {
  const own = shapeOf(mask)
  if (own.width === width && own.height === height) return mask.data
  return resized(withChannel(mask), width, height, 'bicubic', 'center').data
}
