import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import type { NoiseOptions } from '../ancestral.ts'
import { createBrownianNoise } from '../brownian-tree.ts'
import { alphaOf, halfLogSnr, levelsOfFiniteSnr } from '../log-snr.ts'
import type { Sampler } from '../sampler.ts'
import { stepwise } from '../stepwise.ts'

/** A guess at the clean image from an earlier step, and how long that step was in λ. */
export interface Guess {
  readonly denoised: Tensor
  readonly h: number
}

/**
 * Weights of differences between guesses that raise a step's order: given the step's length `h` in λ, the same times
 * 1 + η, and earlier guesses, the newest first. They are multiples of α at the next level.
 */
export type Correction = (
  h: number,
  exponent: number,
  denoised: Tensor,
  earlier: readonly Guess[],
) => readonly (readonly [weight: number, term: Tensor])[]

/** A multistep solver of the reverse SDE in λ (SDE-DPM-Solver++, Lu et al. 2022, appendix) on a Brownian path. */
export function stochasticMultistep(
  name: string,
  correct: Correction,
  { eta = 1, noiseScale = 1 }: NoiseOptions = {},
): Sampler {
  return stepwise(
    name,
    ({ model, sigmas, seed }, { dims }) => {
      const noise = createBrownianNoise(dims, sigmas, seed, noiseScale)
      let earlier: readonly Guess[] = []
      return ({ x, sigma, next, denoised }) => {
        if (next === 0) return denoised
        const h = halfLogSnr(model, next) - halfLogSnr(model, sigma)
        const exponent = h * (1 + eta)
        const alpha = alphaOf(model, next)
        const known = earlier
        earlier = [{ denoised, h }, ...earlier].slice(0, 2)
        const reached = combined(
          [(next / sigma) * Math.exp(-h * eta), x],
          [-alpha * Math.expm1(-exponent), denoised],
          ...correct(h, exponent, denoised, known).map(([weight, term]) => [alpha * weight, term] as const),
        )
        if (eta === 0 || noiseScale === 0) return reached
        return addScaled(reached, noise(sigma, next), next * Math.sqrt(-Math.expm1(-2 * h * eta)))
      }
    },
    levelsOfFiniteSnr,
  )
}
