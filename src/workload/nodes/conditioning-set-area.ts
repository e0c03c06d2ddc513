import { link, widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { withArea } from './support/conditioning.ts'
import { CONDITIONING, defineNode, MAX_RESOLUTION } from './support/define.ts'

/** Pixels a latent cell. */
const cell = 8
const cells = (pixels: number) => Math.floor(pixels / cell)
const side = () => widget(int({ default: 64, min: 64, max: MAX_RESOLUTION, step: cell }))
const place = () => widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: cell }))

export default defineNode({
  type: 'ConditioningSetArea',
  category: 'conditioning',
  title: 'Limit Conditioning to Area',
  description: 'Lets a conditioning steer a rectangle of the picture only; in pixels.',
  inputs: {
    conditioning: link(CONDITIONING),
    width: side(),
    height: side(),
    x: place(),
    y: place(),
    strength: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
  },
  outputs: [CONDITIONING],
  run: ({ conditioning, width, height, x, y, strength }) => [
    withArea(
      conditioning,
      { unit: 'cells', height: cells(height), width: cells(width), y: cells(y), x: cells(x) },
      strength,
    ),
  ],
})
