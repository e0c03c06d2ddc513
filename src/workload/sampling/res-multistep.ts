import { addScaled, combined, type Tensor } from '../tensor/tensor.ts'
import { independentNoise, varianceSplit } from './ancestral.ts'
import type { Sampler } from './sampler.ts'
import { eulerStep } from './slope.ts'
import { stepwise } from './stepwise.ts'

/**
 * The second-order multistep form of the refined exponential solver (Zhang et al. 2023): two guesses, exponential
 * weights in -ln σ; with `eta` 1 over ancestral steps.
 */
export function resMultistep(name: string, eta: 0 | 1): Sampler {
  return stepwise(name, (run, start) => {
    const noise = independentNoise(run, start)
    let before: { readonly denoised: Tensor; readonly sigma: number; readonly down: number } | undefined

    return ({ x, sigma, next, denoised }) => {
      const { down, up } = varianceSplit(sigma, next, eta)
      const previous = before
      before = { denoised, sigma, down }
      if (down === 0) return denoised
      const reached = () => {
        if (!previous) return eulerStep(x, sigma, down, denoised)
        const h = Math.log(sigma / down)
        const c2 = Math.log(previous.down / previous.sigma) / h
        const phi1 = -Math.expm1(-h) / h
        const phi2 = (1 - phi1) / h
        return combined([down / sigma, x], [h * (phi1 - phi2 / c2), denoised], [(h * phi2) / c2, previous.denoised])
      }
      return up === 0 ? reached() : addScaled(reached(), noise(sigma, next), up)
    }
  })
}
