import { laplaceLevels } from '../sampling/schedules/laplace.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, exact, levelInputs } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'LaplaceScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Laplace Schedule',
  description: 'Noise levels that crowd around one level, as a Laplace distribution of their logarithm does.',
  inputs: { ...levelInputs(), mu: exact(0, 10, { step: 0.1, min: -10 }), beta: exact(0.5, 10, { step: 0.1 }) },
  outputs: [SIGMAS],
  run: ({ steps, sigma_max, sigma_min, mu, beta }) => [
    laplaceLevels(steps, { sigmaMin: sigma_min, sigmaMax: sigma_max, mu, beta }),
  ],
})
