import { link, optional, widget } from '../graph/node.ts'
import { boolean, choice, int } from '../graph/widget.ts'
import { joinedAlong } from '../tensor/axes.ts'
import { rowsOf, stackRows } from '../tensor/rows.ts'
import { mapped, type Tensor, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { paddedTo, shapeOf, withChannels } from './support/picture.ts'
import { resizedImage } from './support/resize.ts'

const COLOURS = { white: [1, 1, 1], black: [0, 0, 0], red: [1, 0, 0], green: [0, 1, 0], blue: [0, 0, 1] } as const

export default defineNode({
  type: 'ImageStitch',
  category: 'image/transform',
  title: 'Put Pictures Side by Side',
  description: 'Puts a second picture beside, above or below the first, with a strip of colour between them if wanted.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    image1: link(IMAGE),
    direction: widget(choice(['right', 'down', 'left', 'up'], { default: 'right' })),
    match_image_size: widget(boolean({ default: true })),
    spacing_width: widget(int({ default: 0, min: 0, max: 1024, step: 2 })),
    spacing_color: widget(choice(['white', 'black', 'red', 'green', 'blue'], { default: 'white' })),
    image2: optional(link(IMAGE)),
  },
  outputs: [IMAGE],
  run({ image1, image2, direction, match_image_size, spacing_width, spacing_color }) {
    if (image2 === undefined) return [image1]
    const rows = Math.max(rowsOf(image1), rowsOf(image2))
    const across = direction === 'right' || direction === 'left'
    const pair = [stackRows([image1], rows), stackRows([image2], rows)] as const
    const sized = match_image_size
      ? matched(...pair, across)
      : padded(...pair, across, Number(spacing_color === 'white'))
    const channels = Math.max(...sized.map((image) => shapeOf(image).channels))
    const [first, second] = sized.map((image) => withChannels(image, channels)) as [Tensor, Tensor]
    const parts = direction === 'right' || direction === 'down' ? [first, second] : [second, first]
    if (spacing_width > 0) {
      const { height, width } = shapeOf(first)
      const strip = spacing_width + (spacing_width % 2)
      const size = across ? [height, strip] : [strip, width]
      const colour = COLOURS[spacing_color]
      parts.splice(
        1,
        0,
        mapped(zeros([rows, ...size, channels]), (_, i) => colour[i % channels] ?? 1),
      )
    }
    return [joinedAlong(parts, across ? 2 : 1)]
  },
})

/** The second picture in the first one's height, or width when they are put one below the other. */
function matched(first: Tensor, second: Tensor, across: boolean): readonly Tensor[] {
  const { height, width } = shapeOf(first)
  const aspect = shapeOf(second).width / shapeOf(second).height
  const size = across
    ? ([Math.trunc(height * aspect), height] as const)
    : ([width, Math.trunc(width / aspect)] as const)
  return [first, resizedImage(second, ...size, 'lanczos', 'disabled')]
}

/** Both pictures in the larger height, or width, the smaller one in the middle of a ground of `value`. */
function padded(first: Tensor, second: Tensor, across: boolean, value: number): readonly Tensor[] {
  const [a, b] = [shapeOf(first), shapeOf(second)]
  const target = across ? Math.max(a.height, b.height) : Math.max(a.width, b.width)
  return [first, second].map((image) => {
    const { height, width } = shapeOf(image)
    return across
      ? paddedTo(image, 0, Math.floor((target - height) / 2), width, target, value)
      : paddedTo(image, Math.floor((target - width) / 2), 0, target, height, value)
  })
}
