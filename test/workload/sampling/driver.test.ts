import { describe, expect, it } from 'vitest'
import type { DiffusionModel, InputRequest, Latent } from '../../../src/workload/model/ports.ts'
import {
  fittedLatent,
  type LatentRun,
  sampleLatent,
  scheduleFor,
  stepRange,
} from '../../../src/workload/sampling/driver.ts'
import { createCfgGuider } from '../../../src/workload/sampling/guidance.ts'
import { loadSamplers } from '../../../src/workload/sampling/load-samplers.ts'
import { loadSchedulers } from '../../../src/workload/sampling/load-schedulers.ts'
import { flowSampling } from '../../../src/workload/sampling/model-sampling.ts'
import { prepareNoise } from '../../../src/workload/sampling/noise-source.ts'
import type { GuessPair, Sampler } from '../../../src/workload/sampling/sampler.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { takeRows } from '../../../src/workload/tensor/rows.ts'
import { filled, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { createToyModel, toyEntry } from '../../support/toy-diffusion-model.ts'

const samplers = await loadSamplers()
const schedulers = await loadSchedulers()
const [euler, normal] = [samplers.get('euler')!, schedulers.get('normal')!]
const dims = [2, 4, 4, 6]
const picture = filled(dims, 0.5)
const near = (values: ArrayLike<number>) => Array.from(values, (value) => expect.closeTo(value, 4))

type Wish = Partial<Pick<LatentRun, 'sampler' | 'sigmas' | 'noise' | 'onStep' | 'signal'>> & {
  readonly denoise?: number
  readonly cfg?: number
}

/** One run of the toy model as KSampler would start it: 6 steps, seed 5. */
async function sample(latent: Latent, { denoise = 1, cfg = 7, ...wish }: Wish = {}) {
  const { model, calls } = createToyModel()
  const sampler = wish.sampler ?? euler
  const made = await sampleLatent({
    guider: createCfgGuider({ model, positive: [toyEntry(0.2)], negative: [toyEntry(-0.1)], cfg }),
    latent,
    noise: prepareNoise(latent, 5n),
    sampler,
    sigmas: scheduleFor({ scheduler: normal, sampler, model: model.sampling, steps: 6, denoise }),
    seed: 5n,
    signal: new AbortController().signal,
    ...wish,
  })
  return { ...made, calls }
}

describe('a run over latents', () => {
  it('gives the same latents for the same seed, in one pass a step for both sides and all rows', async () => {
    const { samples, calls } = await sample({ samples: zeros(dims) })
    expect(calls.map(({ rows }) => rows)).toEqual([4, 4, 4, 4, 4, 4])
    expect(samples).toEqual((await sample({ samples: zeros(dims) })).samples)
    expect((await sample({ samples: zeros(dims) }, { cfg: 1 })).calls[0]!.rows).toBe(2)
  })

  it('reports its steps', async () => {
    const steps: unknown[] = []
    await sample({ samples: zeros(dims) }, { onStep: (step, total) => steps.push([step, total]) })
    expect(steps).toEqual([1, 2, 3, 4, 5, 6].map((step) => [step, 6]))
  })

  it('stops between two steps when told to', async () => {
    const controller = new AbortController()
    const onStep = (step: number) => step === 2 && controller.abort(new Error('enough'))
    await expect(sample({ samples: zeros(dims) }, { onStep, signal: controller.signal })).rejects.toThrow('enough')
  })

  it('begins in less noise with denoise below 1, and so stays nearer to the picture', async () => {
    const distance = async (denoise: number) => {
      const { samples, calls } = await sample({ samples: picture }, { denoise })
      const far = Math.max(...samples.data.map((value) => Math.abs(value - 0.5)))
      return { far, steps: calls.length, first: calls[0]!.timesteps[0]! }
    }
    const [whole, part] = [await distance(1), await distance(0.3)]
    expect(part.steps).toBe(6)
    expect(part.first).toBeLessThan(whole.first)
    expect(part.far).toBeLessThan(whole.far)
  })

  it('leaves the latents as they are where there is nothing to do', async () => {
    expect((await sample({ samples: picture }, { denoise: 0 })).samples).toBe(picture)
  })

  it('hands latents to the network in its own scale, and back', async () => {
    const untouched = await sample({ samples: picture }, { sigmas: Float32Array.of(0.05), noise: zeros(dims) })
    expect([...untouched.samples.data]).toEqual([...picture.data])
  })

  it.each(['euler', 'euler_ancestral', 'ddim', 'dpmpp_2m_sde'])(
    'keeps what a noise mask excludes, with %s',
    async (name) => {
      const half = tensor([1, 1, 2, 2], Float32Array.of(1, 0, 1, 0))
      const { samples } = await sample({ samples: picture, noiseMask: half }, { sampler: samplers.get(name)! })
      const columns = (from: number, to: number) => samples.data.filter((_, i) => i % 6 >= from && i % 6 < to)
      expect([...columns(5, 6)]).toEqual(near(filled([16 * 2], 0.5).data))
      expect(Math.max(...columns(0, 1).map((value) => Math.abs(value - 0.5)))).toBeGreaterThan(0.01)
    },
  )

  it('shows ddim the kept part under noise of its own', async () => {
    const noiseMask = tensor([1, 1, 1, 2], Float32Array.of(1, 0))
    const run = async (name: string) =>
      (await sample({ samples: picture, noiseMask }, { sampler: samplers.get(name)! })).samples
    const unmasked = await sample({ samples: picture }, { sampler: samplers.get('ddim')! })
    expect([...unmasked.samples.data]).toEqual([...(await sample({ samples: picture })).samples.data])
    expect([...(await run('ddim')).data]).not.toEqual([...(await run('euler')).data])
  })

  it("gives samplers the guess under the mask, and the negative's beside it as it is", async () => {
    const noiseMask = tensor([1, 1, 1, 2], Float32Array.of(1, 0))
    const pairs: GuessPair[] = []
    const sampler: Sampler = {
      name: 'asking',
      asksNegative: true,
      async sample(x, { denoisePair }) {
        pairs.push(await denoisePair!(x, 3))
        return x
      },
    }
    await sample({ samples: picture, noiseMask }, { sampler, cfg: 1 })
    const { denoised, negative } = pairs[0]!
    // The toy model's network sees latents halved.
    expect(denoised.data[5]).toBe(0.25)
    expect(negative!.data[5]).not.toBe(0.25)
  })

  it('refuses samplers that change the size of masked latents', async () => {
    const growing: Sampler = {
      name: 'growing',
      sample: (_x, { denoise }) => denoise(zeros([2, 4, 8, 12]), 3),
    }
    const masked = { samples: picture, noiseMask: filled([1, 1, 4, 6], 1) }
    await expect(sample(masked, { sampler: growing })).rejects.toThrow('keep their size')
    expect((await sample({ samples: picture }, { sampler: growing })).samples.dims).toEqual([2, 4, 8, 12])
  })

  it('tells the model which picture it begins with and where that may change', async () => {
    const requests: InputRequest[] = []
    const { model } = createToyModel()
    const asked: DiffusionModel = {
      ...model,
      inputsFor(entry, request) {
        requests.push(request)
        return model.inputsFor(entry, request)
      },
    }
    const guider = createCfgGuider({ model: asked, positive: [toyEntry(1)], negative: [], cfg: 1 })
    const noiseMask = tensor([1, 1, 1, 2], Float32Array.of(1, 0))
    const [sigmas, { signal }] = [Float32Array.of(3, 0), new AbortController()]
    const latent = { samples: picture, noiseMask }
    await sampleLatent({ guider, latent, noise: zeros(dims), sampler: euler, sigmas, seed: 5n, signal })
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({ height: 4, width: 6, negative: false, latent: filled(dims, 0.25) })
    expect(requests[0]!.noiseMask!.dims).toEqual([2, 1, 4, 6])
  })

  it("lets a model's hook change the mask from step to step", async () => {
    const { model } = createToyModel()
    const hooked = { ...model, guidance: [{ mask: (mask: Tensor) => zeros(mask.dims) }] }
    const guider = createCfgGuider({ model: hooked, positive: [toyEntry(1)], negative: [], cfg: 1 })
    const run = { guider, noise: createGenerator(1).randn(dims), sampler: euler, sigmas: Float32Array.of(3, 1, 0) }
    const latent = { samples: picture, noiseMask: filled([1, 1, 4, 6], 1) }
    const { samples } = await sampleLatent({ ...run, latent, seed: 5n, signal: new AbortController().signal })
    expect([...samples.data]).toEqual(near(picture.data))
  })

  it('takes the result to be at the level that the sampler says', async () => {
    const { model } = createToyModel()
    const flow = { ...model, sampling: flowSampling({ shift: 1, multiplier: 1000 }) }
    const guider = createCfgGuider({ model: flow, positive: [toyEntry(1)], negative: [], cfg: 1 })
    const still: Sampler = { name: 'still', sample: async (x) => x, endsAt: () => 0.5 }
    const run = { guider, latent: { samples: picture }, noise: zeros(dims), sigmas: Float32Array.of(0.5, 0), seed: 5n }
    const { samples, denoised } = await sampleLatent({ ...run, sampler: still, signal: new AbortController().signal })
    expect([...samples.data]).toEqual(near(picture.data))
    expect(denoised).toBe(samples)
  })

  it('widens empty latents to the channels of the model and refuses others', async () => {
    const { model } = createToyModel()
    const narrow = fittedLatent(model, { samples: zeros([1, 16, 4, 6]) })
    expect(narrow.samples.dims).toEqual([1, 4, 4, 6])
    expect((await sample(narrow)).samples.dims).toEqual([1, 4, 4, 6])
    await expect(sample({ samples: filled([1, 16, 4, 6], 1) })).rejects.toThrow(/4 channels/)
  })
})

describe('the initial noise', () => {
  const rowOf = (t: Tensor, row: number) => [...takeRows(t, row, row + 1).data]

  it('is one draw over the batch', () => {
    const noise = prepareNoise({ samples: zeros(dims) }, 5n)
    expect(noise).toEqual(createGenerator(5n).randn(dims))
  })

  it('gives each row the noise of the place in a batch that it came from', async () => {
    const whole = prepareNoise({ samples: zeros([4, 4, 4, 6]) }, 5n)
    const picked = prepareNoise({ samples: zeros(dims), batchIndex: [3, 1] }, 5n)
    expect(rowOf(picked, 0)).toEqual(rowOf(whole, 3))
    expect(rowOf(picked, 1)).toEqual(rowOf(whole, 1))

    const all = await sample({ samples: zeros([4, 4, 4, 6]) })
    const one = await sample({ samples: zeros([1, 4, 4, 6]), batchIndex: [3] })
    expect(rowOf(one.samples, 0)).toEqual(near(rowOf(all.samples, 3)))
  })
})

describe('the levels of a run', () => {
  const { sampling: model } = createToyModel().model
  const levels = (steps: number, denoise: number, name = 'euler') =>
    scheduleFor({ scheduler: normal, sampler: samplers.get(name)!, model, steps, denoise })

  it('are the last of a longer schedule when denoise is below 1', () => {
    expect([...levels(6, 0.3)]).toEqual([...normal.sigmas(20, model).slice(-7)])
    expect(levels(6, 0.99995)).toEqual(normal.sigmas(6, model))
    expect(levels(6, 0)).toHaveLength(0)
  })

  it('leave out the last but one for samplers that ask for it', () => {
    const longer = [...normal.sigmas(7, model)]
    expect([...levels(6, 1, 'dpm_2')]).toEqual([...longer.slice(0, 6), 0])
    expect(levels(6, 0.5, 'dpm_2')).toHaveLength(7)
  })

  it('are cut by KSamplerAdvanced from its first step to its last', () => {
    const sigmas = Float32Array.of(8, 4, 2, 1, 0)
    const range = (start: number, end: number, leftoverNoise = false) => [
      ...stepRange(sigmas, { start, end, leftoverNoise }),
    ]
    expect(range(0, 10_000)).toEqual([8, 4, 2, 1, 0])
    expect(range(1, 3)).toEqual([4, 2, 0])
    expect(range(1, 3, true)).toEqual([4, 2, 1])
    expect(range(4, 10_000)).toEqual([])
    expect(range(3, 3)).toEqual([])
    expect([...sigmas]).toEqual([8, 4, 2, 1, 0])
  })
})
