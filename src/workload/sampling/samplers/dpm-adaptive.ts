import { WorkloadError } from '../../base/errors.ts'
import { addScaled, type Tensor } from '../../tensor/tensor.ts'
import { independentNoise, type NoiseOptions, varianceSplit } from '../ancestral.ts'
import type { Sampler, SamplingRun } from '../sampler.ts'
import {
  between,
  firstOrder,
  lowestLevel,
  placeAt,
  secondOrder,
  sigmaOf,
  thirdOrder,
  timeOf,
} from '../solvers/dpm-solver.ts'
import { createStepSize, type StepSizeOptions } from '../solvers/step-size.ts'

/** What may be set of the adaptive solver. */
export interface DpmAdaptiveOptions extends NoiseOptions, StepSizeOptions {
  /** Of the steps that are taken; they are judged by steps of one order less. */
  readonly order?: 2 | 3
  /** How far both may differ, as a share of x and at least. */
  readonly relativeTolerance?: number
  readonly absoluteTolerance?: number
}

/** How close to the end in ln σ counts as there. */
const closeEnough = 1e-5
/** After so many rejected tries in a row there will be no accepted one. */
const mostRejections = 100

/**
 * DPM-Solver-12 and -23, Lu et al. (2022), appendix C: steps as long as the difference between two orders allows. It goes
 * from the first to the lowest level of the schedule and reports every try, with a guess at how many are to come.
 */
export const dpmAdaptive = (options: DpmAdaptiveOptions = {}): Sampler =>
  Object.freeze({
    name: 'dpm_adaptive',
    async sample(start: Tensor, run: SamplingRun) {
      const { order = 3, relativeTolerance = 0.05, absoluteTolerance = 0.0078, eta = 0, noiseScale = 1 } = options
      const end = timeOf(lowestLevel(run.sigmas))
      const noise = independentNoise(run, start, noiseScale)
      // With noise the error falls more slowly with the length of a step.
      const stepSize = createStepSize(options, eta > 0 ? 1.5 : order)
      const thirds = { first: 1 / 3, second: 2 / 3 }

      let [x, previous, t] = [start, start, timeOf(run.sigmas[0]!)]
      let rejections = 0
      for (let tries = 1; t < end - closeEnough; tries++) {
        const next = Math.min(end, t + stepSize.length())
        if (!(next > t) || rejections > mostRejections)
          throw new WorkloadError('execution-failed', 'dpm_adaptive finds no step that its settings accept')
        rejections++
        const [sigma, nextSigma] = [sigmaOf(t), sigmaOf(next)]
        const to = eta > 0 ? Math.min(end, timeOf(varianceSplit(sigma, nextSigma, eta).down)) : next
        const place = await placeAt(run, x, t)
        const middle = await between(run, place, to, order === 2 ? 1 / 2 : thirds.first)
        const low = order === 2 ? firstOrder(place, to) : secondOrder(place, middle, to, thirds.first)
        const high =
          order === 2 ? secondOrder(place, middle, to, 1 / 2) : await thirdOrder(run, place, middle, to, thirds)

        if (stepSize.accepts(differenceOf(low, high, previous, relativeTolerance, absoluteTolerance))) {
          rejections = 0
          previous = low
          const up = Math.sqrt(Math.max(0, nextSigma ** 2 - sigmaOf(to) ** 2))
          x = up > 0 ? addScaled(high, noise(sigma, nextSigma), up) : high
          t = next
        }
        const left = Math.max(0, end - closeEnough - t)
        run.onStep?.(tries, tries + Math.ceil(left / stepSize.length()), place.denoised)
      }
      return x
    },
  })

/** How far two results differ, in tolerances: the root of the mean square. */
function differenceOf(low: Tensor, high: Tensor, previous: Tensor, relative: number, absolute: number): number {
  let sum = 0
  for (let i = 0; i < low.data.length; i++) {
    const largest = Math.max(Math.abs(low.data[i]!), Math.abs(previous.data[i]!))
    sum += ((low.data[i]! - high.data[i]!) / Math.max(absolute, relative * largest)) ** 2
  }
  return Math.sqrt(sum / low.data.length)
}

export default dpmAdaptive()
