import type { ModelSampling } from '../model/ports.ts'
import type { SamplingRun } from './sampler.ts'

const fround = Math.fround

/**
 * λ = ln(α/σ), half the logarithm of the signal-to-noise ratio (Lu et al. 2022), in float32: levels computed from it
 * address a Brownian tree, where the last bit decides the noise.
 */
export function halfLogSnr({ flow }: ModelSampling, sigma: number): number {
  return -fround(Math.log(flow ? fround(sigma / fround(1 - sigma)) : sigma))
}

/** The noise level at half log-SNR `lambda`: the inverse of `halfLogSnr`. */
export function sigmaAt({ flow }: ModelSampling, lambda: number): number {
  return fround(flow ? 1 / (1 + Math.exp(lambda)) : Math.exp(-lambda))
}

/** How much of the image is in x at `sigma`: 1 - σ for flow models, all of it for the others. */
export function alphaOf({ flow }: ModelSampling, sigma: number): number {
  return flow ? 1 - sigma : 1
}

/**
 * The levels of a run for samplers that work in λ: those of flow models begin at pure noise, where λ is infinite, and
 * are made to begin just below it.
 */
export function levelsOfFiniteSnr({ model, sigmas }: SamplingRun): Float32Array {
  if (!model.flow || sigmas.length < 2 || sigmas[0]! < 1) return sigmas
  return Float32Array.of(model.percentToSigma(1e-4), ...sigmas.subarray(1))
}
