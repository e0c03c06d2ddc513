import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { independentNoise, varianceSplit } from '../ancestral.ts'
import type { Sampler, SamplingRun } from '../sampler.ts'
import { eulerStep, slope } from '../slope.ts'
import { type PairStep, type Step, stepwise, stepwiseOnPairs } from '../stepwise.ts'

/** What the second-order step is made from: x, the guess it heads for, and its first step, which has no history. */
type Course<S> = (step: S, down: number) => Pick<Step, 'x'> & { readonly guess: Tensor; readonly first: () => Tensor }

/**
 * The second-order multistep form of the refined exponential solver (Zhang et al. 2023): two guesses, exponential
 * weights in -ln σ; with `eta` 1 over ancestral steps.
 */
export function resMultistep(name: string, eta: 0 | 1): Sampler {
  return stepwise(name, (run, start) =>
    refined(run, start, eta, ({ x, sigma, denoised }, down) => ({
      x,
      guess: denoised,
      first: () => eulerStep(x, sigma, down, denoised),
    })),
  )
}

/** As `resMultistep`, heading for the negative's guess from an x moved by the guidance: CFG++ (Chung et al. 2024). */
export function resMultistepCfgPp(name: string, eta: 0 | 1): Sampler {
  return stepwiseOnPairs(name, (run, start) =>
    refined<PairStep>(run, start, eta, ({ x, sigma, denoised, negative }, down) => ({
      x: combined([1, x], [1, denoised], [-1, negative]),
      guess: negative,
      first: () => addScaled(denoised, slope(x, sigma, negative), down),
    })),
  )
}

function refined<S extends Step>(run: SamplingRun, start: Tensor, eta: number, courseOf: Course<S>) {
  const noise = independentNoise(run, start)
  let before: { readonly guess: Tensor; readonly sigma: number; readonly down: number } | undefined

  return (step: S): Tensor => {
    const { sigma, next, denoised } = step
    const { down, up } = varianceSplit(sigma, next, eta)
    if (down === 0) return denoised
    const { x, guess, first } = courseOf(step, down)
    const previous = before
    before = { guess, sigma, down }
    const reached = () => {
      if (!previous) return first()
      const h = Math.log(sigma / down)
      const c2 = Math.log(previous.down / previous.sigma) / h
      const phi1 = -Math.expm1(-h) / h
      const phi2 = (1 - phi1) / h
      return combined([down / sigma, x], [h * (phi1 - phi2 / c2), guess], [(h * phi2) / c2, previous.guess])
    }
    return up === 0 ? reached() : addScaled(reached(), noise(sigma, next), up)
  }
}
