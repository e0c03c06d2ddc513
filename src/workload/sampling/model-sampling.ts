import type { ModelSampling } from '../model/ports.ts'
import { combined, type Tensor } from '../tensor/tensor.ts'
import { flowPrediction, type NoisedOutput, noisedPrediction } from './prediction.ts'

const fround = Math.fround

/** Above every level: where a fraction of 0 lies, so that everything begins there. */
const beyondAllNoise = 999_999_999.9

/** The training levels of Stable Diffusion: β from 0.00085 to 0.012, √β evenly spaced over 1000 steps. */
const trainingSteps = 1000
const [firstBeta, lastBeta] = [0.00085, 0.012] as const

/** ᾱ after the last training step when it has been shifted to (nearly) no signal. */
const terminalAlphaBar = 4.8973451890853435e-8

/** σ of every training step in double precision, rising. */
function trainingSigmas(): number[] {
  const [first, last] = [Math.sqrt(firstBeta), Math.sqrt(lastBeta)]
  let alphaBar = 1
  return Array.from({ length: trainingSteps }, (_, i) => {
    alphaBar *= 1 - (first + ((last - first) * i) / (trainingSteps - 1)) ** 2
    return Math.sqrt((1 - alphaBar) / alphaBar)
  })
}

/** The levels shifted so that the last holds no signal: Lin et al. (2024), algorithm 1. */
function withZeroTerminalSnr(sigmas: readonly number[]): number[] {
  const roots = sigmas.map((sigma) => Math.sqrt(1 / (sigma ** 2 + 1)))
  const [first, last] = [roots[0]!, roots.at(-1)!]
  return roots.map((root, i) => {
    const shifted = ((root - last) * first) / (first - last)
    const alphaBar = i === roots.length - 1 ? terminalAlphaBar : shifted ** 2
    return Math.sqrt((1 - alphaBar) / alphaBar)
  })
}

const rangeOf = (sigmas: Float32Array) => ({ sigmas, sigmaMin: sigmas[0]!, sigmaMax: sigmas.at(-1)! })

/** The level at a place between two indices of a table of ln σ, interpolated there. */
function levelAt(logs: Float32Array, index: number): number {
  const t = Math.min(Math.max(fround(index), 0), logs.length - 1)
  const part = t - Math.floor(t)
  const below = fround(fround(1 - part) * logs[Math.floor(t)]!)
  return fround(Math.exp(fround(below + fround(part * logs[Math.ceil(t)]!))))
}

/** The index of the level nearest to `sigma` in a table of ln σ, the first of equals. */
function nearestTo(sigma: number, logs: Float32Array): number {
  const log = fround(Math.log(sigma))
  let nearest = 0
  for (let i = 1; i < logs.length; i++)
    if (Math.abs(fround(log - logs[i]!)) < Math.abs(fround(log - logs[nearest]!))) nearest = i
  return nearest
}

/** Stable Diffusion 1, 2 and XL: 1000 levels, a timestep is the index of the nearest one in ln σ. */
export function discreteSampling({
  prediction,
  zeroTerminalSnr = false,
}: {
  readonly prediction: Exclude<NoisedOutput, 'edm'>
  readonly zeroTerminalSnr?: boolean
}): ModelSampling {
  const levels = zeroTerminalSnr ? withZeroTerminalSnr(trainingSigmas()) : trainingSigmas()
  const logs = Float32Array.from(levels, Math.log)
  const sigma = (timestep: number) => levelAt(logs, timestep)
  return Object.freeze({
    ...noisedPrediction(prediction),
    ...rangeOf(Float32Array.from(levels)),
    sigma,
    timestep: (level: number) => nearestTo(level, logs),
    percentToSigma: (percent: number) =>
      percent <= 0 ? beyondAllNoise : percent >= 1 ? 0 : sigma((1 - percent) * (trainingSteps - 1)),
  })
}

/** How many of the training steps a latent consistency model was distilled on. */
const distilledSteps = 50

/**
 * Latent consistency models (Luo et al. 2023): every twentieth level of Stable Diffusion, and a network for the noise
 * whose guess at the image is mixed with x at the last levels (Song et al. 2023, the boundary condition).
 */
export function distilledSampling({ zeroTerminalSnr = false } = {}): ModelSampling {
  const whole = discreteSampling({ prediction: 'eps', zeroTerminalSnr })
  const stride = trainingSteps / distilledSteps
  const sigmas = whole.sigmas.filter((_, i) => i % stride === stride - 1)
  const logs = sigmas.map(Math.log)
  const timestep = (level: number) => nearestTo(level, logs) * stride + stride - 1
  const sigma = (at: number) => levelAt(logs, (fround(at) - (stride - 1)) / stride)
  return Object.freeze({
    ...whole,
    ...rangeOf(sigmas),
    sigma,
    timestep,
    percentToSigma: (percent: number) =>
      percent <= 0 ? beyondAllNoise : percent >= 1 ? 0 : sigma((1 - percent) * (trainingSteps - 1)),
    denoised(x: Tensor, output: Tensor, level: number) {
      const [t, deviation] = [10 * timestep(level), 0.5]
      const square = t ** 2 + deviation ** 2
      const guessed = t / Math.sqrt(square)
      return combined([guessed + deviation ** 2 / square, x], [-guessed * level, output])
    },
  })
}

/** Rectified flow (Esser et al. 2024): a timestep is σ · `multiplier`, and `shift` > 1 spends more steps in noise. */
export function flowSampling({
  shift,
  multiplier,
}: {
  readonly shift: number
  readonly multiplier: number
}): ModelSampling {
  const shifted = (u: number) => (shift === 1 ? u : (shift * u) / (1 + (shift - 1) * u))
  const sigma = (timestep: number) => {
    const u = fround(timestep / multiplier)
    return shift === 1 ? u : fround(fround(shift * u) / fround(1 + fround((shift - 1) * u)))
  }
  return Object.freeze({
    ...flowPrediction,
    ...rangeOf(Float32Array.from({ length: 1000 }, (_, i) => sigma(fround(fround((i + 1) / 1000) * multiplier)))),
    sigma,
    timestep: (level: number) => fround(level * multiplier),
    percentToSigma: (percent: number) => (percent <= 0 ? 1 : percent >= 1 ? 0 : shifted(1 - percent)),
  })
}

/** Flux: σ = e^shift / (e^shift + 1/t - 1) over 10000 levels, a timestep is σ itself. */
export function fluxSampling({ shift }: { readonly shift: number }): ModelSampling {
  const shifted = (t: number) => Math.exp(shift) / (Math.exp(shift) + (1 / t - 1))
  return Object.freeze({
    ...flowPrediction,
    ...rangeOf(Float32Array.from({ length: 10_000 }, (_, i) => shifted((i + 1) / 10_000))),
    sigma: (timestep: number) => fround(shifted(timestep)),
    timestep: (level: number) => level,
    percentToSigma: (percent: number) => (percent <= 0 ? 1 : percent >= 1 ? 0 : shifted(1 - percent)),
  })
}

/** Continuous levels evenly spaced in ln σ, a timestep is ln(σ)/4 (Karras et al. 2022, table 1). */
export function edmSampling({
  prediction,
  sigmaMin,
  sigmaMax,
  sigmaData,
}: {
  readonly prediction: 'eps' | 'v' | 'edm'
  readonly sigmaMin: number
  readonly sigmaMax: number
  readonly sigmaData: number
}): ModelSampling {
  const [low, high] = [Math.log(sigmaMin), Math.log(sigmaMax)]
  return Object.freeze({
    ...noisedPrediction(prediction, sigmaData),
    ...rangeOf(Float32Array.from({ length: 1000 }, (_, i) => Math.exp(low + ((high - low) * i) / 999))),
    sigma: (timestep: number) => fround(Math.exp(4 * timestep)),
    timestep: (level: number) => fround(0.25 * Math.log(level)),
    percentToSigma: (percent: number) =>
      percent <= 0 ? beyondAllNoise : percent >= 1 ? 0 : Math.exp(low + (high - low) * (1 - percent)),
  })
}

/** Continuous levels evenly spaced in ln σ, a timestep is the angle between image and noise as a share of a right one. */
export function angularSampling({
  sigmaMin,
  sigmaMax,
}: {
  readonly sigmaMin: number
  readonly sigmaMax: number
}): ModelSampling {
  return Object.freeze({
    ...edmSampling({ prediction: 'v', sigmaMin, sigmaMax, sigmaData: 1 }),
    sigma: (timestep: number) => fround(Math.tan((timestep * Math.PI) / 2)),
    timestep: (level: number) => fround((Math.atan(level) / Math.PI) * 2),
  })
}
