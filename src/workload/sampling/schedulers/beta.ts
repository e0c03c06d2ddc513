import type { Scheduler } from '../scheduler.ts'
import { betaLevels } from '../schedules/beta.ts'

/** Both parameters of the distribution: below 1, so that it crowds at both ends. */
const parameter = 0.6

/** Timesteps at even shares of a beta distribution: Lee et al. (2024), "Beta sampling is all you need". */
export default {
  name: 'beta',
  sigmas: (steps, { sigmas }) => betaLevels(steps, sigmas, parameter, parameter),
} satisfies Scheduler
