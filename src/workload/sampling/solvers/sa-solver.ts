import type { ModelSampling } from '../../model/ports.ts'
import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { independentNoise } from '../ancestral.ts'
import { alphaOf, halfLogSnr, levelsOfFiniteSnr } from '../log-snr.ts'
import type { Sampler } from '../sampler.ts'
import { type Step, stepwise } from '../stepwise.ts'
import { type AdamsStep, adamsWeights, simpleAdamsWeights } from './stochastic-adams.ts'

/** What may be set of SA-Solver. */
export interface SaSolverOptions {
  /** How stochastic the steps to these levels are; 1 between 20 and 80 % of the way and 0 elsewhere by default. */
  readonly tauOf?: (sigma: number) => number
  /** From up to how many guesses a step is predicted, and corrected; 0 corrects none. */
  readonly predictorOrder?: number
  readonly correctorOrder?: number
  /** Whether the model is asked again after each correction. */
  readonly asksAgain?: boolean
  /** Simpler weights where two guesses are used. */
  readonly simpleOrder2?: boolean
  readonly noiseScale?: number
}

/** `tau` where a level lies between two fractions of the way from noise (0) to image (1), 0 elsewhere. */
export function tauBetween(model: ModelSampling, start: number, end: number, tau: number): (sigma: number) => number {
  const [highest, lowest] = [model.percentToSigma(start), model.percentToSigma(end)]
  return (sigma) => (sigma <= highest && sigma >= lowest ? tau : 0)
}

interface Guess {
  readonly lambda: number
  readonly denoised: Tensor
}

/** The last step that was predicted: what it began with, and the noise that it added. */
interface Prediction {
  readonly x: Tensor
  readonly sigma: number
  readonly tau: number
  readonly noise: Tensor | undefined
}

/**
 * SA-Solver (Xue et al. 2023): stochastic Adams steps, predicted from earlier guesses and corrected with the guess at
 * the predicted point.
 */
export function stochasticAdams(name: string, options: SaSolverOptions = {}): Sampler {
  const { predictorOrder = 3, correctorOrder = 4, asksAgain = false, simpleOrder2 = false, noiseScale = 1 } = options
  return stepwise(
    name,
    (run, start) => {
      const { model, sigmas, denoise } = run
      const tauOf = options.tauOf ?? tauBetween(model, 0.2, 0.8, 1)
      const draw = independentNoise(run, start, noiseScale)
      const endsClean = sigmas.at(-1) === 0
      let guesses: readonly Guess[] = []
      let prediction: Prediction | undefined

      /** From `x` at `sigma` to `to` on `used` guesses, the newest first. */
      const integrated = (used: readonly Guess[], { x, sigma, tau }: Prediction, to: number, corrects: boolean) => {
        const step: AdamsStep = { from: halfLogSnr(model, sigma), to: halfLogSnr(model, to), tau }
        const nodes = used.map(({ lambda }) => lambda).reverse()
        const weights =
          simpleOrder2 && nodes.length === 2
            ? simpleAdamsWeights(nodes as [number, number], step, corrects)
            : adamsWeights(nodes, step)
        const alpha = alphaOf(model, to)
        const kept = (to / sigma) * Math.exp(-(tau ** 2) * (step.to - step.from))
        const terms = used.map(({ denoised }, i) => [alpha * weights.at(-1 - i)!, denoised] as const)
        return combined([kept, x], ...terms)
      }
      const withNoise = (x: Tensor, noise: Tensor | undefined) => (noise ? addScaled(x, noise, 1) : x)

      /** The guess at the predicted point corrects the step that led there. */
      const correct = async ({ index, x, sigma, next }: Step): Promise<Tensor> => {
        if (!prediction || (next === 0 && !asksAgain)) return x
        const most = endsClean ? Math.min(correctorOrder, sigmas.length - 1 - index) : correctorOrder
        const used = guesses.slice(0, most)
        if (used.length === 0) return x
        const corrected = withNoise(integrated(used, prediction, sigma, true), prediction.noise)
        if (asksAgain) {
          const [{ lambda }, ...earlier] = guesses as readonly [Guess, ...Guess[]] // `used` is not empty
          guesses = [{ lambda, denoised: await denoise(corrected, sigma) }, ...earlier]
        }
        return corrected
      }

      return async (step) => {
        const { index, sigma, next } = step
        const guess = { lambda: halfLogSnr(model, sigma), denoised: step.denoised }
        guesses = [guess, ...guesses].slice(0, Math.max(predictorOrder, correctorOrder))
        const x = await correct(step)
        if (next === 0) return guesses[0]!.denoised
        const tau = tauOf(next)
        const h = halfLogSnr(model, next) - halfLogSnr(model, sigma)
        const deviation = next * Math.sqrt(-Math.expm1(-2 * tau ** 2 * h))
        const noise = tau > 0 && noiseScale > 0 ? combined([deviation, draw(sigma, next)]) : undefined
        prediction = { x, sigma, tau, noise }
        const most = endsClean ? Math.min(predictorOrder, sigmas.length - 2 - index) : predictorOrder
        return withNoise(integrated(guesses.slice(0, most), prediction, next, false), noise)
      }
    },
    levelsOfFiniteSnr,
  )
}
