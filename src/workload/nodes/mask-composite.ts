import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { rowsOf } from '../tensor/rows.ts'
import { tensor } from '../tensor/tensor.ts'
import { defineNode, MASK, MAX_RESOLUTION } from './support/define.ts'
import { broadcastRows, clamped, shapeOf } from './support/picture.ts'

const isSet = (value: number): boolean => roundHalfEven(value) !== 0

/** How a lower value `a` and an upper one `b` meet. */
const OPERATIONS = {
  multiply: (a, b) => a * b,
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  and: (a, b) => Number(isSet(a) && isSet(b)),
  or: (a, b) => Number(isSet(a) || isSet(b)),
  xor: (a, b) => Number(isSet(a) !== isSet(b)),
} as const satisfies Readonly<Record<string, (a: number, b: number) => number>>

const corner = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'MaskComposite',
  category: 'mask',
  title: 'Combine Masks',
  description: 'Combines a second mask with the part of the first that it lies over.',
  module: 'comfy_extras.nodes_mask',
  inputs: {
    destination: link(MASK),
    source: link(MASK),
    x: corner,
    y: corner,
    operation: widget(choice(['multiply', 'add', 'subtract', 'and', 'or', 'xor'])),
  },
  outputs: [MASK],
  run({ destination, source, x, y, operation }) {
    const { rows, height, width } = shapeOf(destination)
    const upper = broadcastRows(source, rows, 'source')
    const own = shapeOf(upper)
    const [visibleWidth, visibleHeight] = [Math.min(own.width, width - x), Math.min(own.height, height - y)]
    const mix = OPERATIONS[operation]
    const data = destination.data.slice()
    for (let row = 0; row < rowsOf(upper); row++)
      for (let i = 0; i < visibleHeight; i++)
        for (let j = 0; j < visibleWidth; j++) {
          const at = (row * height + y + i) * width + x + j
          data[at] = mix(data[at]!, upper.data[(row * own.height + i) * own.width + j]!)
        }
    return [clamped(tensor(destination.dims, data))]
  },
})
