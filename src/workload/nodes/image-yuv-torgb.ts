import { link } from '../graph/node.ts'
import { mapped, type Tensor, zeros } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { clamped, shapeOf } from './support/picture.ts'

export default defineNode({
  type: 'ImageYUVToRGB',
  category: 'image/batch',
  title: 'Join Brightness and Colour',
  description: 'Makes a colour picture of brightness and two colour differences (ITU-R BT.601).',
  module: 'comfy_extras.nodes_morphology',
  inputs: { Y: link(IMAGE), U: link(IMAGE), V: link(IMAGE) },
  outputs: [IMAGE],
  run({ Y, U, V }) {
    const { rows, height, width } = shapeOf(Y)
    if ([U, V].some(({ dims }) => dims.slice(0, 3).join() !== `${rows},${height},${width}`))
      throw new Error('Y, U and V must be of one size and number')
    const [y, u, v] = [Y, U, V].map(meanOfChannels) as [Float32Array, Float32Array, Float32Array]
    const parts = [
      (i: number) => y[i]! + 1.403 * (v[i]! - 0.5),
      (i: number) => y[i]! - 0.714 * (v[i]! - 0.5) - 0.344 * (u[i]! - 0.5),
      (i: number) => y[i]! + 1.773 * (u[i]! - 0.5),
    ]
    return [clamped(mapped(zeros([rows, height, width, 3]), (_, i) => parts[i % 3]!(Math.floor(i / 3))))]
  },
})

function meanOfChannels(image: Tensor): Float32Array {
  const { channels } = shapeOf(image)
  return Float32Array.from({ length: image.data.length / channels }, (_, i) => {
    let sum = 0
    for (let c = 0; c < channels; c++) sum += image.data[i * channels + c]!
    return sum / channels
  })
}
