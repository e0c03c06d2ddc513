import { variancePreservingLevels } from '../sampling/schedules/variance-preserving.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, exact, stepCount } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'VPScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Variance-Preserving Schedule',
  description: 'Noise levels at even times of the process that keeps the variance of an image while it turns to noise.',
  inputs: {
    steps: stepCount(),
    beta_d: exact(19.9, 5000),
    beta_min: exact(0.1, 5000),
    eps_s: exact(0.001, 1, { step: 0.0001 }),
  },
  outputs: [SIGMAS],
  run: ({ steps, beta_d, beta_min, eps_s }) => [variancePreservingLevels(steps, beta_d, beta_min, eps_s)],
})
