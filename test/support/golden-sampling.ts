import { scheduleFor } from '../../src/workload/sampling/driver.ts'
import { loadSchedulers } from '../../src/workload/sampling/load-schedulers.ts'
import type { Sampler, SamplingRun } from '../../src/workload/sampling/sampler.ts'
import { createGenerator } from '../../src/workload/tensor/random.ts'
import { mapped, type Tensor, zeros } from '../../src/workload/tensor/tensor.ts'
import { readGoldens } from './goldens.ts'
import { type SamplingModelName, samplingModels } from './sampling-models.ts'

/** What the reference program gave: the first values of x, and the levels at which it asked the model. */
export interface SamplingReference {
  readonly out: readonly number[]
  readonly evals: readonly number[]
}

const { samplers: references } = readGoldens<{ readonly samplers: Readonly<Record<string, SamplingReference>> }>(
  'golden_sampling',
)
const schedulers = await loadSchedulers()
const dims = [1, 4, 4, 4]

/** What the reference numbers were made for: model, scheduler and steps. */
export const goldenSettings = ['eps/normal/8', 'eps/karras/8', 'flow_shift3/simple/8'] as const
export type GoldenSetting = (typeof goldenSettings)[number]

/** The reference numbers of a sampler; undefined when it is newer than they are. */
export const referenceOf = (setting: GoldenSetting, sampler: string): SamplingReference | undefined =>
  references[`seed+1/${setting}/${sampler}`]

/** The image around which the positive guesses lie: sin(0.1·i). */
export const goldenMean = (i: number): number => Math.sin(0.1 * i)

/** The guesses of the reference numbers: images around `goldenMean`, guided twice as far from those around nought. */
function goldenGuesses(flow: boolean, visit: (sigma: number) => void) {
  const denoisePair = async (noisy: Tensor, sigma: number) => {
    visit(sigma)
    const share = flow ? (1 - sigma) / ((1 - sigma) ** 2 + sigma ** 2) : 1 / (1 + sigma ** 2)
    const negative = mapped(noisy, (value) => share * value)
    const denoised = mapped(noisy, (value, i) => {
      const mean = goldenMean(i)
      const positive = flow ? mean + share * (value - (1 - sigma) * mean) : share * (value + sigma ** 2 * mean)
      return 2 * positive - share * value
    })
    return { denoised, negative }
  }
  return { denoisePair, denoise: async (noisy: Tensor, sigma: number) => (await denoisePair(noisy, sigma)).denoised }
}

/** A run of `sampler` as the reference numbers were made, with the levels it asked at; `wish` changes its run. */
export async function goldenRun(setting: GoldenSetting, sampler: Sampler, wish: Partial<SamplingRun> = {}) {
  const [modelName, scheduler, steps] = setting.split('/') as [SamplingModelName, string, string]
  const model = samplingModels[modelName]
  const unit = schedulers.get(scheduler)!
  const sigmas = wish.sigmas ?? scheduleFor({ scheduler: unit, sampler, model, steps: Number(steps), denoise: 1 })
  const full = Math.abs(sigmas[0]! - model.sigmaMax) < 1e-5 * model.sigmaMax
  const start = model.addNoise(sigmas[0]!, createGenerator(42).randn(dims), zeros(dims), full)
  const visited: number[] = []
  const { signal } = new AbortController()
  const guesses = goldenGuesses(model.flow, (sigma) => visited.push(sigma))
  const result = await sampler.sample(start, { ...guesses, sigmas, model, seed: 42n, signal, ...wish })
  return { start, sigmas, visited, result }
}

/** The furthest that `result` is from the reference, relative to each value with 0.1 to spare. */
export const deviationFrom = ({ out }: SamplingReference, { data }: Tensor): number =>
  Math.max(...out.map((value, i) => Math.abs(data[i]! - value) / (Math.abs(value) + 0.1)))
