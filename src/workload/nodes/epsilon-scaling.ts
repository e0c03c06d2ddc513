import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { epsilonScaling } from '../sampling/hooks/epsilon-scaling.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'Epsilon Scaling',
  category: 'model_patches/unet',
  module: 'comfy_extras.nodes_eps',
  title: 'Scaled Noise Estimate',
  description: 'Makes the noise that each step sees a little smaller, which sharpens pictures.',
  inputs: {
    model: link(MODEL),
    scaling_factor: widget(float({ default: 1.005, min: 0.5, max: 1.5, step: 0.001, display: 'number' })),
  },
  outputs: [MODEL],
  run: ({ model, scaling_factor }) => [withHook(model, epsilonScaling(scaling_factor))],
})
