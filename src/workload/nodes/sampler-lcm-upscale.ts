import { widget } from '../graph/node.ts'
import { choice, float, int } from '../graph/widget.ts'
import { lcmUpscale } from '../sampling/solvers/lcm-upscale.ts'
import { defineNode, SAMPLER } from './support/define.ts'

export default defineNode({
  type: 'SamplerLCMUpscale',
  category: 'sampling/custom_sampling/samplers',
  module: 'comfy_extras.nodes_advanced_samplers',
  title: 'LCM with Upscaling',
  description: 'Consistency sampling that enlarges its guess in the first steps.',
  inputs: {
    scale_ratio: widget(float({ default: 1, min: 0.1, max: 20, step: 0.01 })),
    scale_steps: widget(int({ default: -1, min: -1, max: 1000, step: 1 })),
    upscale_method: widget({
      ...choice(['bislerp', 'nearest-exact', 'bilinear', 'area', 'bicubic']),
      named: true,
    }),
  },
  outputs: [SAMPLER],
  run: ({ scale_ratio, scale_steps, upscale_method }) => [
    lcmUpscale({ ratio: scale_ratio, steps: scale_steps < 0 ? undefined : scale_steps, method: upscale_method }),
  ],
})
