import { widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { tensor } from '../tensor/tensor.ts'
import { defineNode, IMAGE, MAX_RESOLUTION } from './support/define.ts'

const side = widget(int({ default: 512, min: 1, max: MAX_RESOLUTION, step: 1 }))

export default defineNode({
  type: 'EmptyImage',
  category: 'image',
  title: 'Plain Picture',
  description: 'A picture of one colour, given as 0xRRGGBB.',
  inputs: {
    width: side,
    height: side,
    batch_size: widget(int({ default: 1, min: 1, max: 4096 })),
    color: widget(int({ default: 0, min: 0, max: 0xffffff, step: 1, display: 'color' })),
  },
  outputs: [IMAGE],
  run({ width, height, batch_size, color }) {
    const data = new Float32Array(batch_size * height * width * 3)
    const channels = [color >> 16, (color >> 8) & 0xff, color & 0xff].map((byte) => byte / 255)
    for (let i = 0; i < data.length; i++) data[i] = channels[i % 3]!
    return [tensor([batch_size, height, width, 3], data)]
  },
})
