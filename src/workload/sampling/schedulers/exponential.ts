import type { Scheduler } from '../scheduler.ts'
import { exponentialLevels } from '../schedules/exponential.ts'

/** Evenly spaced in ln σ. */
export default {
  name: 'exponential',
  sigmas: (steps, { sigmaMin, sigmaMax }) => exponentialLevels(steps, sigmaMin, sigmaMax),
} satisfies Scheduler
