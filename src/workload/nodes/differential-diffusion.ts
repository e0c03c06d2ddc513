import { link, optional, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { differentialMask } from '../sampling/hooks/differential.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'DifferentialDiffusion',
  category: '_for_testing',
  module: 'comfy_extras.nodes_differential_diffusion',
  experimental: true,
  title: 'Differential Diffusion',
  description: 'Takes the grey of a noise mask as when each place of the picture begins to change.',
  inputs: {
    model: link(MODEL),
    strength: optional(widget(float({ default: 1, min: 0, max: 1, step: 0.01 }))),
  },
  outputs: [MODEL],
  run: ({ model, strength = 1 }) => [withHook(model, differentialMask(strength))],
})
