import type { GuidanceHook } from '../../model/guidance.ts'
import { mapped } from '../../tensor/tensor.ts'

/**
 * Differential diffusion (Levin and Fried 2023): a grey noise mask says when each cell begins to change, the darker
 * the later. With `strength` below 1 a part of the mask itself stays in every step's.
 */
export function differentialMask(strength: number): GuidanceHook {
  return {
    mask(mask, { sigma, sigmas, sampling }) {
      const last = Math.max(sampling.sigmaMin, sigmas.at(-1)!)
      const [from, to] = [sampling.timestep(sigmas[0]!), sampling.timestep(last)]
      const threshold = Math.fround((sampling.timestep(sigma) - to) / (from - to))
      const kept = strength > 0 && strength < 1 ? 1 - strength : 0
      return mapped(mask, (value) => (1 - kept) * Number(value >= threshold) + kept * value)
    },
  }
}
