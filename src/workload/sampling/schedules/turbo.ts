import type { ModelSampling } from '../../model/ports.ts'
import { endingInZero } from '../linspace.ts'

/** Timesteps that adversarial distillation trains on. */
const trainedSteps = 10

/**
 * The levels that SD-Turbo was distilled on (Sauer et al. 2023), from timestep 999 down in hundreds, then 0; `denoise`
 * below 1 begins at a later one.
 */
export function turboLevels(steps: number, denoise: number, model: ModelSampling): Float32Array {
  const first = trainedSteps - Math.trunc(10 * denoise)
  const timesteps = Array.from({ length: trainedSteps }, (_, i) => (trainedSteps - i) * 100 - 1)
  return endingInZero(timesteps.slice(first, first + steps).map((timestep) => model.sigma(timestep)))
}
