import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { scheduleFor } from '../../src/workload/sampling/driver.ts'
import { loadSamplers } from '../../src/workload/sampling/load-samplers.ts'
import { loadSchedulers } from '../../src/workload/sampling/load-schedulers.ts'
import type { Denoiser } from '../../src/workload/sampling/sampler.ts'
import { createGenerator } from '../../src/workload/tensor/random.ts'
import { mapped, tensor, zeros } from '../../src/workload/tensor/tensor.ts'
import { readGoldens } from '../support/goldens.ts'
import { type SamplingModelName, samplingModels } from '../support/sampling-models.ts'

interface Reference {
  readonly out: readonly number[]
  readonly evals: readonly number[]
}

const { samplers: references } = readGoldens<{ readonly samplers: Readonly<Record<string, Reference>> }>(
  'golden_sampling',
)
const tolerance = 1e-4
const schedulers = await loadSchedulers()
const samplers = await loadSamplers()

const { signal } = new AbortController()
const model = samplingModels.eps
const sigmas = Float32Array.of(10, 5, 2, 1, 0.5, 0)
const x = tensor([1, 1, 1, 2], new Float32Array([10, -10]))
const target = tensor([1, 1, 1, 2], new Float32Array([0.25, -0.5]))
const denoise = async () => target

/** The denoiser of the reference numbers: images around sin(0.1·i), guided twice as far from those around nought. */
function referenceDenoiser(flow: boolean, visit: (sigma: number) => void): Denoiser {
  return async (noisy, sigma) => {
    visit(sigma)
    return mapped(noisy, (value, i) => {
      const mean = Math.sin(0.1 * i)
      const share = flow ? (1 - sigma) / ((1 - sigma) ** 2 + sigma ** 2) : 1 / (1 + sigma ** 2)
      const uncond = share * value
      const cond = flow ? mean + share * (value - (1 - sigma) * mean) : uncond + share * sigma ** 2 * mean
      return uncond + 2 * (cond - uncond)
    })
  }
}

describe('samplers', () => {
  it('are listed as ComfyUI lists them', () => {
    const names = [...samplers.keys()]
    expect(names.slice(0, 3)).toEqual(['euler', 'euler_ancestral', 'heun'])
    expect(names.indexOf('dpmpp_2m')).toBeLessThan(names.indexOf('dpmpp_2m_sde'))
    expect(names).toEqual(expect.arrayContaining(['lcm', 'ddim']))
  })
})

describe.each([...samplers])('sampler %s', (name, sampler) => {
  it('lives in a file of its own name', () => {
    expect(readdirSync('src/workload/sampling/samplers')).toContain(`${name.replaceAll('_', '-')}.ts`)
  })

  it('lands on the answer of a model that always knows it', async () => {
    const y = await sampler.sample(x, { denoise, sigmas, model, seed: 1n, signal })
    expect([...y.data]).toEqual([...target.data].map((value) => expect.closeTo(value, 4)))
  })

  it('reports each step with the guess at the image, and stops when told to', async () => {
    const steps: unknown[] = []
    const run = { denoise, sigmas, model, seed: 1n, signal }
    await sampler.sample(x, { ...run, onStep: (...step) => steps.push(step) })
    expect(steps).toEqual([1, 2, 3, 4, 5].map((step) => [step, 5, target]))

    const controller = new AbortController()
    const stopped: number[] = []
    const onStep = (step: number) => {
      stopped.push(step)
      if (step === 2) controller.abort()
    }
    await expect(sampler.sample(x, { ...run, signal: controller.signal, onStep })).rejects.toThrow(/aborted/)
    expect(stopped).toEqual([1, 2])
  })

  it('does the same again for the same seed', async () => {
    const once = async () => [
      ...(await sampler.sample(x, { denoise, sigmas: sigmas.slice(0, 4), model, seed: 7n, signal })).data,
    ]
    expect(await once()).toEqual(await once())
  })

  it.each(['eps/normal/8', 'eps/karras/8', 'flow_shift3/simple/8'])(
    'agrees with the reference on %s',
    async (setting) => {
      const reference = references[`seed+1/${setting}/${name}`]
      expect(reference, 'a sampler needs reference numbers').toBeDefined()
      const [modelName, scheduler, steps] = setting.split('/') as [SamplingModelName, string, string]
      const sampling = samplingModels[modelName]
      const levels = scheduleFor({
        scheduler: schedulers.get(scheduler)!,
        sampler,
        model: sampling,
        steps: Number(steps),
        denoise: 1,
      })
      const dims = [1, 4, 4, 4]
      const full = Math.abs(levels[0]! - sampling.sigmaMax) < 1e-5 * sampling.sigmaMax
      const start = sampling.addNoise(levels[0]!, createGenerator(42).randn(dims), zeros(dims), full)
      const visited: number[] = []
      const y = await sampler.sample(start, {
        denoise: referenceDenoiser(sampling.flow, (sigma) => visited.push(sigma)),
        sigmas: levels,
        model: sampling,
        seed: 42n,
        signal,
      })

      expect(visited).toHaveLength(reference!.evals.length)
      for (const [i, sigma] of reference!.evals.entries())
        expect(Math.abs(visited[i]! - sigma), `call ${i}`).toBeLessThan(tolerance * sigma)
      for (const [i, value] of reference!.out.entries())
        expect(Math.abs(y.data[i]! - value), `value ${i}`).toBeLessThan(tolerance * (Math.abs(value) + 0.1))
    },
  )
})
