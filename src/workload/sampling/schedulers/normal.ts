import { endingInZero, linspace } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

/** Evenly spaced in the model's timesteps, from the first to the last. */
export default {
  name: 'normal',
  sigmas(steps, model) {
    const [start, end] = [model.timestep(model.sigmaMax), model.timestep(model.sigmaMin)]
    const sigma = (timestep: number) => model.sigma(timestep)
    return Math.abs(model.sigma(end)) <= 1e-5
      ? linspace(start, end, steps + 1).map(sigma)
      : endingInZero(linspace(start, end, steps).map(sigma))
  },
} satisfies Scheduler
