import { link, widget } from '../graph/node.ts'
import { float, seed } from '../graph/widget.ts'
import { createGenerator } from '../tensor/random.ts'
import { addScaled } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { clamped } from './support/picture.ts'

export default defineNode({
  type: 'ImageAddNoise',
  category: 'image',
  title: 'Add Grain',
  description: 'Adds normal noise from a seed to every channel.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    image: link(IMAGE),
    seed: widget(seed({ control_after_generate: true })),
    strength: widget(float({ default: 0.5, min: 0, max: 1, step: 0.01 })),
  },
  outputs: [IMAGE],
  run: ({ image, seed, strength }) => [clamped(addScaled(image, createGenerator(seed).randn(image.dims), strength))],
})
