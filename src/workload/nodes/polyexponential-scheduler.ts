import { polyexponentialLevels } from '../sampling/schedules/polyexponential.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, exact, levelInputs } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'PolyexponentialScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Polyexponential Schedule',
  description: 'Noise levels whose logarithm falls as a power of the steps left.',
  inputs: { ...levelInputs(), rho: exact(1, 100) },
  outputs: [SIGMAS],
  run: ({ steps, sigma_max, sigma_min, rho }) => [polyexponentialLevels(steps, sigma_min, sigma_max, rho)],
})
