import type { ModelSampling } from '../model/ports.ts'
import { noisedPrediction } from './prediction.ts'

const fround = Math.fround
const levels = 10_000
/** How far the cosine is moved off its end. */
const offset = 0.008
/** The least and the most that remains of the image. */
const [leastAlpha, mostAlpha] = [0.0001, 0.9999] as const
/** Where a fraction of 0 lies: above every level. */
const beyondAllNoise = 999_999_999.9

const cosine = (t: number) => Math.cos(((t + offset) / (1 + offset)) * (Math.PI / 2)) ** 2

/**
 * Stable Cascade: the cosine schedule (Nichol and Dhariwal 2021) over times from 0 to 1, which are the timesteps;
 * `shift` moves it by 2·ln(1/shift) in log-SNR (Hoogeboom et al. 2023).
 */
export function cascadeSampling({ shift }: { readonly shift: number }): ModelSampling {
  const shifted = (alphaBar: number) => {
    const odds = alphaBar / (1 - alphaBar) / shift ** 2
    return shift === 1 ? alphaBar : odds / (1 + odds)
  }
  const sigma = (timestep: number) => {
    // At time 0 nothing of the noise remains; the shift's logarithm is infinite there and its limit is 1.
    const alphaBar = cosine(timestep) / cosine(0)
    const kept = Math.min(Math.max(alphaBar >= 1 ? 1 : shifted(alphaBar), leastAlpha), mostAlpha)
    return fround(Math.sqrt((1 - kept) / kept))
  }
  const sigmas = Float32Array.from({ length: levels }, (_, i) => sigma((i + 1) / levels))
  return Object.freeze({
    ...noisedPrediction('eps'),
    sigmas,
    sigmaMin: sigmas[0]!,
    sigmaMax: sigmas.at(-1)!,
    sigma,
    timestep: (level: number) =>
      fround((Math.acos(Math.sqrt(cosine(0) / (level ** 2 + 1))) / (Math.PI / 2)) * (1 + offset) - offset),
    percentToSigma: (percent: number) => (percent <= 0 ? beyondAllNoise : percent >= 1 ? 0 : sigma(1 - percent)),
  })
}
