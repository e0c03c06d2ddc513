import { endingInZero, linspace } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

/** Evenly spaced in the model's timesteps, as if one more step followed. */
export default {
  name: 'sgm_uniform',
  sigmas(steps, model) {
    const timesteps = linspace(model.timestep(model.sigmaMax), model.timestep(model.sigmaMin), steps + 1)
    return endingInZero(timesteps.subarray(0, steps).map((timestep) => model.sigma(timestep)))
  },
} satisfies Scheduler
