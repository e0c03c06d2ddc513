import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { turboLevels } from '../sampling/schedules/turbo.ts'
import { defineNode, MODEL, SIGMAS } from './support/define.ts'
import { customSampler, denoiseShare } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'SDTurboScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Turbo Schedule',
  description: 'The few noise levels that Turbo models were trained on.',
  inputs: { model: link(MODEL), steps: widget(int({ default: 1, min: 1, max: 10 })), denoise: denoiseShare() },
  outputs: [SIGMAS],
  run: ({ model, steps, denoise }) => [turboLevels(steps, denoise, model.sampling)],
})
