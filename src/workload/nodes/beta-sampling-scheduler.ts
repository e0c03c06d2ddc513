import { link } from '../graph/node.ts'
import { betaLevels } from '../sampling/schedules/beta.ts'
import { defineNode, MODEL, SIGMAS } from './support/define.ts'
import { customSampler, exact, stepCount } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'BetaSamplingScheduler',
  category: 'sampling/custom_sampling/schedulers',
  module: customSampler,
  title: 'Beta Schedule',
  description: "A model's noise levels at even shares of a beta distribution; below 1 its parameters crowd the ends.",
  inputs: { model: link(MODEL), steps: stepCount(), alpha: exact(0.6, 50), beta: exact(0.6, 50) },
  outputs: [SIGMAS],
  run({ model, steps, alpha, beta }) {
    if (alpha <= 0 || beta <= 0) throw new Error('alpha and beta must be above 0: there is no such distribution')
    return [betaLevels(steps, model.sampling.sigmas, alpha, beta)]
  },
})
