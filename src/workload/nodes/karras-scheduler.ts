import { karrasLevels } from '../sampling/schedules/karras.ts'
import { defineNode, SIGMAS } from './support/define.ts'
import { customSampler, exact, levelInputs } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'KarrasScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Karras Schedule',
  description: 'Noise levels evenly spaced in a root of them, so that the steps shorten towards the end.',
  inputs: { ...levelInputs(), rho: exact(7, 100) },
  outputs: [SIGMAS],
  run: ({ steps, sigma_max, sigma_min, rho }) => [karrasLevels(steps, sigma_min, sigma_max, rho)],
})
