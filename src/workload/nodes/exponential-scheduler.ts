import { exponentialLevels } from '../sampling/schedules/exponential.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, levelInputs } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'ExponentialScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Exponential Schedule',
  description: 'Noise levels that fall by the same factor at each step.',
  inputs: levelInputs(),
  outputs: [SIGMAS],
  run: ({ steps, sigma_max, sigma_min }) => [exponentialLevels(steps, sigma_min, sigma_max)],
})
