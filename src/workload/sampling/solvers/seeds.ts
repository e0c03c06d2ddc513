import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { independentNoise, type NoiseOptions } from '../ancestral.ts'
import { alphaOf, halfLogSnr, levelsOfFiniteSnr, sigmaAt } from '../log-snr.ts'
import type { NoiseSampler, Sampler, SamplingRun } from '../sampler.ts'
import { type Step, stepwise } from '../stepwise.ts'

type Weighted = readonly (readonly [weight: number, guess: Tensor])[]

/** One step of an exponential integrator that visits levels between its ends. */
export interface Stages {
  /** The length of the step in λ times 1 + η, which the weights of guesses are functions of. */
  readonly exponent: number
  /** The level at `ratio` of the step in λ. */
  levelAt(ratio: number): number
  /** x at `ratio` of the step, made from guesses whose weights are multiples of α there; call it with rising ratios. */
  at(ratio: number, guesses: Weighted): Tensor
}

/** Takes one step over its stages. */
export type StagedAdvance = (stages: Stages, step: Step, run: SamplingRun) => Promise<Tensor>

/**
 * Exponential integrators of the reverse SDE in several stages (SEEDS, Gonzalez et al. 2023): the noise of a stage is
 * what that of the stage before has become, with fresh noise for the way between them.
 */
export function staged(name: string, { eta = 1, noiseScale = 1 }: NoiseOptions, advance: StagedAdvance): Sampler {
  return stepwise(
    name,
    (run, start) => {
      const noise = independentNoise(run, start, noiseScale)
      return (step) => {
        if (step.next === 0) return step.denoised
        return advance(stagesOf(run, step, eta, eta === 0 || noiseScale === 0 ? undefined : noise), step, run)
      }
    },
    levelsOfFiniteSnr,
  )
}

function stagesOf({ model }: SamplingRun, step: Step, eta: number, noise: NoiseSampler | undefined): Stages {
  const { x, sigma, next } = step
  const lambda = halfLogSnr(model, sigma)
  const h = halfLogSnr(model, next) - lambda
  const levelAt = (ratio: number) => (ratio === 1 ? next : sigmaAt(model, lambda + ratio * h))
  let before: { readonly ratio: number; readonly level: number; readonly noise: Tensor } | undefined

  /** Standard noise that has passed from the start of the step to `ratio` of it. */
  const noiseAt = (ratio: number, level: number, draw: NoiseSampler): Tensor => {
    const way = (ratio - (before?.ratio ?? 0)) * h * eta
    const fresh = draw(before?.level ?? sigma, level)
    const weight = Math.sqrt(-Math.expm1(-2 * way))
    const passed = before ? combined([Math.exp(-way), before.noise], [weight, fresh]) : combined([weight, fresh])
    before = { ratio, level, noise: passed }
    return passed
  }

  return {
    exponent: h * (1 + eta),
    levelAt,
    at(ratio, guesses) {
      const level = levelAt(ratio)
      const alpha = alphaOf(model, level)
      const reached = combined(
        [(level / sigma) * Math.exp(-ratio * h * eta), x],
        ...guesses.map(([weight, guess]) => [alpha * weight, guess] as const),
      )
      return noise ? addScaled(reached, noiseAt(ratio, level, noise), level) : reached
    },
  }
}

/** The first stage that leaves x for `ratio` of the step, on the guess at its start alone. */
export const firstStage = (stages: Stages, ratio: number, denoised: Tensor): Tensor =>
  stages.at(ratio, [[-Math.expm1(-ratio * stages.exponent), denoised]])
