import { roundHalfEven } from '../../tensor/round.ts'
import { betaQuantile } from '../beta-distribution.ts'
import { endingInZero } from '../linspace.ts'

/**
 * Of a model's levels those at even shares of a beta distribution with parameters `alpha` and `beta`, each once, then 0:
 * Lee et al. (2024), "Beta sampling is all you need".
 */
export function betaLevels(steps: number, sigmas: Float32Array, alpha: number, beta: number): Float32Array {
  const timesteps = Array.from({ length: steps }, (_, i) =>
    roundHalfEven(betaQuantile(1 - i / steps, alpha, beta) * (sigmas.length - 1)),
  )
  const distinct = timesteps.filter((timestep, i) => timestep !== timesteps[i - 1])
  return endingInZero(distinct.map((timestep) => sigmas[timestep]!))
}
