import { link, widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { blurred, unitGaussian } from '../tensor/blur.ts'
import { channelsFirst, channelsLast } from '../tensor/channels.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'ImageBlur',
  category: 'image/postprocessing',
  title: 'Blur Picture',
  description: 'Blurs a picture with a Gaussian; its width counts in shares of the radius.',
  module: 'comfy_extras.nodes_post_processing',
  inputs: {
    image: link(IMAGE),
    blur_radius: widget(int({ default: 1, min: 1, max: 31, step: 1 })),
    sigma: widget(float({ default: 1, min: 0.1, max: 10, step: 0.1 })),
  },
  outputs: [IMAGE],
  run({ image, blur_radius, sigma }) {
    if (blur_radius === 0) return [image]
    return [channelsLast(blurred(channelsFirst(image), unitGaussian(blur_radius, sigma)))]
  },
})
