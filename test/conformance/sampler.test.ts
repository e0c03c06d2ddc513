import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { samplerOrder } from '../../src/workload/sampling/catalogue-order.ts'
import { loadSamplers } from '../../src/workload/sampling/load-samplers.ts'
import { type Tensor, tensor } from '../../src/workload/tensor/tensor.ts'
import { deviationFrom, goldenRun, goldenSettings, referenceOf } from '../support/golden-sampling.ts'
import { samplingModels } from '../support/sampling-models.ts'

const samplers = await loadSamplers()

/** Newer than the reference numbers; tested against closed forms in `test/workload/sampling/`. */
const withoutReference = ['exp_heun_2_x0', 'exp_heun_2_x0_sde', 'cfgpp_ud10_ab']
/** Those that follow steps of their own: how many of the five below they report, and where they stop. */
const ownSteps: Readonly<Record<string, number | 'any'>> = { dpm_fast: 2, dpm_adaptive: 'any' }
/** The level that the result is at, where it is not 0. */
const ends: Readonly<Record<string, number>> = { dpm_fast: 0.5, dpm_adaptive: 0.5, uni_pc: 0.001, uni_pc_bh2: 0.001 }
/** Its first errors are rounding noise and decide the length of its steps. */
const tolerances: Readonly<Record<string, number>> = { dpm_adaptive: 1e-2 }

const { signal } = new AbortController()
const model = samplingModels.eps
const sigmas = Float32Array.of(10, 5, 2, 1, 0.5, 0)
const x = tensor([1, 1, 1, 2], new Float32Array([10, -10]))
const target = tensor([1, 1, 1, 2], new Float32Array([0.25, -0.5]))
const denoise = async () => target
const denoisePair = async () => ({ denoised: target, negative: target })
const run = { denoise, denoisePair, sigmas, model, seed: 1n, signal }

describe('samplers', () => {
  it('are those of ComfyUI, in its order', () => {
    expect([...samplers.keys()]).toEqual(samplerOrder)
  })
})

describe.each([...samplers])('sampler %s', (name, sampler) => {
  it('lives in a file of its own name', () => {
    expect(readdirSync('src/workload/sampling/samplers')).toContain(`${name.replaceAll('_', '-')}.ts`)
  })

  it('lands on the answer of a model that always knows it, but for the noise of the level it stops at', async () => {
    const left = (ends[name] ?? 0) / sigmas[0]!
    const y = await sampler.sample(x, run)
    const expected = [...target.data].map((value, i) => expect.closeTo(value + left * (x.data[i]! - value), 4))
    expect([...y.data]).toEqual(expected)
  })

  it('reports each step with the guess at the image, and stops when told to', async () => {
    const steps: (readonly [number, number, Tensor])[] = []
    await sampler.sample(x, { ...run, onStep: (...step) => steps.push(step) })
    const total = ownSteps[name] ?? 5
    expect(steps.map(([step]) => step)).toEqual(Array.from(steps, (_, i) => i + 1))
    expect(steps.every(([, , guess]) => guess === target)).toBe(true)
    // Whoever does not know how many steps there will be is right about it at the end.
    if (total === 'any') expect(steps.at(-1)).toEqual([steps.length, steps.length, target])
    else expect(steps).toEqual(Array.from({ length: total }, (_, i) => [i + 1, total, target]))

    const controller = new AbortController()
    const stopped: number[] = []
    const onStep = (step: number) => {
      stopped.push(step)
      controller.abort()
    }
    await expect(sampler.sample(x, { ...run, signal: controller.signal, onStep })).rejects.toThrow(/aborted/)
    expect(stopped).toEqual([1])
  })

  it('leaves x as it is where there is no step to take', async () => {
    expect(await sampler.sample(x, { ...run, sigmas: Float32Array.of(10) })).toEqual(x)
  })

  it('does the same again for the same seed', async () => {
    const once = async () => [...(await sampler.sample(x, { ...run, sigmas: sigmas.slice(0, 4), seed: 7n })).data]
    expect(await once()).toEqual(await once())
  })

  it.each(withoutReference.includes(name) ? [] : goldenSettings)('agrees with the reference on %s', async (setting) => {
    const reference = referenceOf(setting, name)!
    expect(reference, 'a sampler needs reference numbers').toBeDefined()
    const { result, visited } = await goldenRun(setting, sampler)
    const tolerance = tolerances[name] ?? 1e-4
    expect(visited).toHaveLength(reference.evals.length)
    for (const [i, sigma] of reference.evals.entries())
      expect(Math.abs(visited[i]! - sigma), `call ${i}`).toBeLessThan(tolerance * sigma)
    expect(deviationFrom(reference, result)).toBeLessThan(tolerance)
  })
})
