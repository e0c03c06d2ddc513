import { link, widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { blurred, unitGaussian } from '../tensor/blur.ts'
import { channelsFirst, channelsLast } from '../tensor/channels.ts'
import { combined } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { clamped } from './support/picture.ts'

export default defineNode({
  type: 'ImageSharpen',
  category: 'image/postprocessing',
  title: 'Sharpen Picture',
  description: 'Adds ten times alpha of what a blurred copy lacks.',
  module: 'comfy_extras.nodes_post_processing',
  inputs: {
    image: link(IMAGE),
    sharpen_radius: widget(int({ default: 1, min: 1, max: 31, step: 1 })),
    sigma: widget(float({ default: 1, min: 0.1, max: 10, step: 0.01 })),
    alpha: widget(float({ default: 1, min: 0, max: 5, step: 0.01 })),
  },
  outputs: [IMAGE],
  run({ image, sharpen_radius, sigma, alpha }) {
    if (sharpen_radius === 0) return [image]
    // Upstream convolves once with a kernel of sum 1 whose centre is raised: the same, written as what it does.
    const soft = channelsLast(blurred(channelsFirst(image), unitGaussian(sharpen_radius, sigma)))
    return [clamped(combined([1 + 10 * alpha, image], [-10 * alpha, soft]))]
  },
})
