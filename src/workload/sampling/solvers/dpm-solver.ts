import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import type { SamplingRun } from '../sampler.ts'
import { slope } from '../slope.ts'

const fround = Math.fround

/** x at time t = -ln σ, what the model guesses there and the noise it sees in x. */
export interface Place {
  readonly x: Tensor
  readonly t: number
  readonly denoised: Tensor
  /** (x - denoised)/σ */
  readonly noise: Tensor
}

/** Asks the model at time `t`. */
export async function placeAt({ denoise, signal }: SamplingRun, x: Tensor, t: number): Promise<Place> {
  signal.throwIfAborted()
  const sigma = sigmaOf(t)
  const denoised = await denoise(x, sigma)
  return { x, t, denoised, noise: slope(x, sigma, denoised) }
}

/** The noise level at time `t`. */
export const sigmaOf = (t: number): number => fround(Math.exp(-t))

/** The time of noise level `sigma`. */
export const timeOf = (sigma: number): number => -fround(Math.log(sigma))

/** The lowest noise level of a schedule, which ends in it or in a 0 behind it. */
export const lowestLevel = (sigmas: Float32Array): number => sigmas.at(-1) || sigmas.at(-2) || 0

/** DPM-Solver-1, Lu et al. (2022), eq. 3.7: from a place to time `to`. */
export function firstOrder({ x, t, noise }: Place, to: number): Tensor {
  return addScaled(x, noise, -sigmaOf(to) * Math.expm1(to - t))
}

/** The place at `ratio` of the way to time `to`, by a step of first order. */
export const between = (run: SamplingRun, start: Place, to: number, ratio: number): Promise<Place> => {
  const t = fround(start.t + ratio * (to - start.t))
  return placeAt(run, firstOrder(start, t), t)
}

/** DPM-Solver-2, algorithm 1 of the paper, with the place `middle` at `ratio` of the way. */
export function secondOrder({ x, t, noise }: Place, middle: Place, to: number, ratio: number): Tensor {
  const whole = -sigmaOf(to) * Math.expm1(to - t)
  const change = whole / (2 * ratio)
  return combined([1, x], [whole - change, noise], [change, middle.noise])
}

/** DPM-Solver-3, algorithm 2 of the paper, with the place `middle` at `first` of the way; it asks again at `second`. */
export async function thirdOrder(
  run: SamplingRun,
  { x, t, noise }: Place,
  middle: Place,
  to: number,
  { first, second }: { readonly first: number; readonly second: number },
): Promise<Tensor> {
  const h = to - t
  const bend = (z: number) => Math.expm1(z) / z - 1
  const later = fround(t + second * h)
  const change = -sigmaOf(later) * (second / first) * bend(second * h)
  const direct = -sigmaOf(later) * Math.expm1(second * h)
  const beyond = await placeAt(run, combined([1, x], [direct - change, noise], [change, middle.noise]), later)
  const toEnd = (-sigmaOf(to) / second) * bend(h)
  return combined([1, x], [-sigmaOf(to) * Math.expm1(h) - toEnd, noise], [toEnd, beyond.noise])
}
