import { widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { alignedLevels } from '../sampling/schedules/align-your-steps.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { denoiseShare } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'AlignYourStepsScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: 'comfy_extras.nodes_align_your_steps',
  title: 'Align Your Steps Schedule',
  description: 'Noise levels that were optimised for a kind of model, for runs of few steps.',
  inputs: {
    model_type: widget({ ...choice(['SD1', 'SDXL', 'SVD']), named: true }),
    steps: widget(int({ default: 10, min: 1, max: 10_000 })),
    denoise: denoiseShare(),
  },
  outputs: [SIGMAS],
  run: ({ model_type, steps, denoise }) => [alignedLevels(model_type, steps, denoise)],
})
