import type { NoiseOptions } from '../ancestral.ts'
import type { Sampler } from '../sampler.ts'
import { firstStage, staged } from './seeds.ts'

/**
 * The exponential form of Heun's method: a step to the next level, a guess there, and the step again with both guesses
 * weighted by the φ functions (Hochbruck and Ostermann 2010, §2.3, with c₂ = 1).
 */
export const expHeun = (name: string, options: NoiseOptions): Sampler =>
  staged(name, options, async (stages, { next, denoised }, { denoise }) => {
    const there = await denoise(firstStage(stages, 1, denoised), next)
    const z = -stages.exponent
    const second = (Math.expm1(z) - z) / z
    return stages.at(1, [
      [second - Math.expm1(z), denoised],
      [-second, there],
    ])
  })
