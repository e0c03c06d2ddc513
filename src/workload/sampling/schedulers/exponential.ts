import { endingInZero, linspace } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

/** Evenly spaced in ln σ. */
export default {
  name: 'exponential',
  sigmas: (steps, { sigmaMin, sigmaMax }) =>
    endingInZero(linspace(Math.log(sigmaMax), Math.log(sigmaMin), steps).map(Math.exp)),
} satisfies Scheduler
