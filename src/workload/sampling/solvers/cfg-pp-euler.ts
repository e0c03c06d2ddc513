import { addScaled, combined } from '../../tensor/tensor.ts'
import { independentNoise, type NoiseOptions, varianceSplit } from '../ancestral.ts'
import { alphaOf } from '../log-snr.ts'
import type { Sampler } from '../sampler.ts'
import { stepwiseOnPairs } from '../stepwise.ts'

/**
 * CFG++ (Chung et al. 2024): each step lands on the guided guess, under the noise that the negative's guess leaves.
 * Levels are those of the image at full strength, σ/α, so that it serves flow models as well.
 */
export function cfgPpEuler(name: string, { eta = 1, noiseScale = 1 }: NoiseOptions = {}): Sampler {
  return stepwiseOnPairs(name, (run, start) => {
    const noise = independentNoise(run, start, noiseScale)
    return ({ x, sigma, next, denoised, negative }) => {
      if (next === 0) return denoised
      const [alpha, nextAlpha] = [alphaOf(run.model, sigma), alphaOf(run.model, next)]
      const { down, up } = varianceSplit(sigma / alpha, next / nextAlpha, eta)
      const toNoise = (down * nextAlpha) / sigma
      const reached = combined([nextAlpha, denoised], [toNoise, x], [-toNoise * alpha, negative])
      return eta === 0 ? reached : addScaled(reached, noise(sigma, next), nextAlpha * up)
    }
  })
}

/** Euler's method with a slope that takes the guidance twice and the negative's guess back: x - 2D + U over σ. */
export function alternativeCfgPpEuler(name: string): Sampler {
  return stepwiseOnPairs(name, () => ({ x, sigma, next, denoised, negative }) => {
    const part = (next - sigma) / sigma
    return combined([1 + part, x], [-2 * part, denoised], [part, negative])
  })
}
