import { describe, expect, it } from 'vitest'
import type { DiffusionModel, Latent } from '../../../src/workload/model/ports.ts'
import addNoise from '../../../src/workload/nodes/add-noise.ts'
import basicGuider from '../../../src/workload/nodes/basic-guider.ts'
import basicScheduler from '../../../src/workload/nodes/basic-scheduler.ts'
import betaSamplingScheduler from '../../../src/workload/nodes/beta-sampling-scheduler.ts'
import cfgGuider from '../../../src/workload/nodes/cfg-guider.ts'
import disableNoise from '../../../src/workload/nodes/disable-noise.ts'
import dualCfgGuider from '../../../src/workload/nodes/dual-cfg-guider.ts'
import exponentialScheduler from '../../../src/workload/nodes/exponential-scheduler.ts'
import extendIntermediateSigmas from '../../../src/workload/nodes/extend-intermediate-sigmas.ts'
import flipSigmas from '../../../src/workload/nodes/flip-sigmas.ts'
import kSampler from '../../../src/workload/nodes/k-sampler.ts'
import karrasScheduler from '../../../src/workload/nodes/karras-scheduler.ts'
import modelSamplingAuraFlow from '../../../src/workload/nodes/model-sampling-aura-flow.ts'
import modelSamplingContinuousEdm from '../../../src/workload/nodes/model-sampling-continuous-edm.ts'
import modelSamplingContinuousV from '../../../src/workload/nodes/model-sampling-continuous-v.ts'
import modelSamplingDiscrete from '../../../src/workload/nodes/model-sampling-discrete.ts'
import modelSamplingFlux from '../../../src/workload/nodes/model-sampling-flux.ts'
import modelSamplingSd3 from '../../../src/workload/nodes/model-sampling-sd3.ts'
import modelSamplingStableCascade from '../../../src/workload/nodes/model-sampling-stable-cascade.ts'
import randomNoise from '../../../src/workload/nodes/random-noise.ts'
import rescaleCfg from '../../../src/workload/nodes/rescale-cfg.ts'
import samplerCustom from '../../../src/workload/nodes/sampler-custom.ts'
import samplerCustomAdvanced from '../../../src/workload/nodes/sampler-custom-advanced.ts'
import samplingPercentToSigma from '../../../src/workload/nodes/sampling-percent-to-sigma.ts'
import setFirstSigma from '../../../src/workload/nodes/set-first-sigma.ts'
import splitSigmas from '../../../src/workload/nodes/split-sigmas.ts'
import splitSigmasDenoise from '../../../src/workload/nodes/split-sigmas-denoise.ts'
import type { Catalogue } from '../../../src/workload/nodes/support/define.ts'
import { loadSamplers } from '../../../src/workload/sampling/load-samplers.ts'
import { loadSchedulers } from '../../../src/workload/sampling/load-schedulers.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { filled, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf, runNode } from '../../support/node-room.ts'
import { samplingModels } from '../../support/sampling-models.ts'
import { createToyModel, toyEntry } from '../../support/toy-diffusion-model.ts'

const samplers = await loadSamplers()
const schedulers = await loadSchedulers()
const catalogue: Catalogue = { samplers, schedulers, files: async () => [], inputImages: async () => [] }
const { model } = createToyModel()
const levels = async (node: AnyNode, values: Readonly<Record<string, unknown>>) => [
  ...(await firstOf<Float32Array>(node, values)),
]
const both = async (node: AnyNode, values: Readonly<Record<string, unknown>>) =>
  (await runNode(node, values)).map((part) => [...(part as Float32Array)])
const near = (values: ArrayLike<number>) => Array.from(values, (value) => expect.closeTo(value, 4))

describe('scheduler nodes', () => {
  it('pick the levels of a model, with less denoise the last of a longer schedule', async () => {
    const normal = schedulers.get('normal')!
    const of = (scheduler: string, steps: number, denoise: number) =>
      levels(basicScheduler(catalogue), { model, scheduler, steps, denoise })
    expect(await of('normal', 6, 1)).toEqual([...normal.sigmas(6, model.sampling)])
    expect(await of('normal', 6, 0.3)).toEqual([...normal.sigmas(20, model.sampling).slice(-7)])
    expect(await of('normal', 6, 0)).toEqual([])
    expect(await of('ddim_uniform', 30, 1)).toHaveLength(31)
  })

  it('pick levels between two, as the schedulers of the same name', async () => {
    const { sigmaMin: sigma_min, sigmaMax: sigma_max } = samplingModels.eps
    const range = { steps: 7, sigma_min, sigma_max }
    const wanted = (name: string) => [...schedulers.get(name)!.sigmas(7, samplingModels.eps)]
    expect(await levels(karrasScheduler, { ...range, rho: 7 })).toEqual(wanted('karras'))
    expect(await levels(exponentialScheduler, range)).toEqual(wanted('exponential'))
    const values = { model, steps: 7, alpha: 0.6, beta: 0.6 }
    expect(await levels(betaSamplingScheduler, values)).toEqual(wanted('beta'))
    await expect(levels(betaSamplingScheduler, { ...values, alpha: 0 })).rejects.toThrow('above 0')
  })
})

describe('nodes that change schedules', () => {
  const sigmas = Float32Array.of(8, 4, 2, 1, 0)

  it('cut them in two', async () => {
    expect(await both(splitSigmas, { sigmas, step: 2 })).toEqual([
      [8, 4, 2],
      [2, 1, 0],
    ])
    expect(await both(splitSigmas, { sigmas, step: 9 })).toEqual([[8, 4, 2, 1, 0], []])
    expect(await both(splitSigmasDenoise, { sigmas, denoise: 0.6 })).toEqual([
      [8, 4, 2],
      [2, 1, 0],
    ])
    expect(await both(splitSigmasDenoise, { sigmas, denoise: 0 })).toEqual([[], [0]])
    expect(await both(splitSigmasDenoise, { sigmas, denoise: 1 })).toEqual([[8], [8, 4, 2, 1, 0]])
  })

  it('turn them round, replace the first level and divide steps, and leave the given one alone', async () => {
    expect(await levels(flipSigmas, { sigmas })).toEqual([Math.fround(0.0001), 1, 2, 4, 8])
    expect(await levels(flipSigmas, { sigmas: new Float32Array() })).toEqual([])
    expect(await levels(setFirstSigma, { sigmas, sigma: 136 })).toEqual([136, 4, 2, 1, 0])
    const values = { sigmas, steps: 2, end_at_sigma: 4, spacing: 'linear' }
    expect(await levels(extendIntermediateSigmas, { ...values, start_at_sigma: -1 })).toEqual([8, 6, 4, 3, 2, 1, 0])
    expect(await levels(extendIntermediateSigmas, { ...values, start_at_sigma: 5 })).toEqual([8, 4, 3, 2, 1, 0])
    expect([...sigmas]).toEqual([8, 4, 2, 1, 0])
    await expect(levels(setFirstSigma, { sigmas: new Float32Array(), sigma: 1 })).rejects.toThrow('no levels')
  })

  it('tell the level at a point of a run', async () => {
    const at = (sampling_percent: number, return_actual_sigma: boolean) =>
      firstOf<number>(samplingPercentToSigma, { model, sampling_percent, return_actual_sigma })
    const { sigmaMin, sigmaMax, percentToSigma } = samplingModels.eps
    expect(await Promise.all([at(0, false), at(1, false), at(0.35, true)])).toEqual([
      999_999_999.9,
      0,
      percentToSigma(0.35),
    ])
    expect(await Promise.all([at(0, true), at(1, true)])).toEqual([sigmaMax, sigmaMin])
  })
})

describe('samplers from parts', () => {
  const latent: Latent = { samples: zeros([1, 4, 4, 6]), noiseMask: filled([1, 1, 4, 6], 1) }
  const [positive, negative] = [[toyEntry(0.2)], [toyEntry(-0.1)]]
  const sampler = samplers.get('euler_ancestral')!
  const schedule = (steps = 5) =>
    firstOf<Float32Array>(basicScheduler(catalogue), { model, scheduler: 'karras', steps, denoise: 1 })
  const samplesOf = (output: unknown) => [...(output as Latent).samples.data]
  const parts = async (guider: unknown, noise = randomNoise as AnyNode) => ({
    noise: await firstOf(noise, { noise_seed: 7n }),
    guider,
    sampler,
    sigmas: await schedule(),
    latent_image: latent,
  })

  it('give what KSampler gives, and keep the mask', async () => {
    const common = { model, positive, negative, cfg: 3, latent_image: latent }
    const settings = { seed: 7n, steps: 5, sampler_name: 'euler_ancestral', scheduler: 'karras', denoise: 1 }
    const wanted = samplesOf(await firstOf(kSampler(catalogue), { ...common, ...settings }))
    const custom = { ...common, add_noise: true, noise_seed: 7n, sampler, sigmas: await schedule() }
    const [output, denoised] = await runNode(samplerCustom, custom)
    expect(samplesOf(output)).toEqual(wanted)
    expect(samplesOf(denoised)).toEqual(wanted)
    expect((output as Latent).noiseMask).toBe(latent.noiseMask)
    const guider = await firstOf(cfgGuider, { model, positive, negative, cfg: 3 })
    expect(samplesOf(await firstOf(samplerCustomAdvanced, await parts(guider)))).toEqual(wanted)
  })

  it('also give the last guess at the image of a run that stops early', async () => {
    const sigmas = (await schedule()).slice(0, 3)
    const guider = await firstOf(basicGuider, { model, conditioning: positive })
    const [output, denoised] = await runNode(samplerCustomAdvanced, { ...(await parts(guider)), sigmas })
    expect(samplesOf(denoised)).not.toEqual(samplesOf(output))
    const none = { ...(await parts(guider)), sigmas: new Float32Array() }
    expect((await runNode(samplerCustomAdvanced, none)).map(samplesOf)).toEqual([
      [...latent.samples.data],
      [...latent.samples.data],
    ])
  })

  it('begin without noise when told to, and then draw with the seed 0', async () => {
    const guider = await firstOf(basicGuider, { model, conditioning: positive })
    const values = await parts(guider, disableNoise)
    expect(values.noise).toMatchObject({ seed: 0n })
    const custom = { model, positive, negative: [], cfg: 1, add_noise: false, noise_seed: 0n }
    const { sigmas, latent_image } = values
    expect(samplesOf(await firstOf(samplerCustomAdvanced, values))).toEqual(
      samplesOf(await firstOf(samplerCustom, { ...custom, sampler, sigmas, latent_image })),
    )
  })

  it('guide by two conditionings', async () => {
    const conds = { cond1: positive, cond2: [toyEntry(0.5)], negative, cfg_conds: 1, cfg_cond2_negative: 1 }
    const guider = await firstOf(dualCfgGuider, { model, ...conds, style: 'regular' })
    const alone = await firstOf(basicGuider, { model, conditioning: positive })
    const samples = async (one: unknown) => samplesOf(await firstOf(samplerCustomAdvanced, await parts(one)))
    expect(await samples(guider)).toEqual(near(await samples(alone)))
  })

  it('add noise to latents without sampling', async () => {
    const picture: Latent = { samples: filled([1, 4, 4, 6], 1) }
    const noise = await firstOf(randomNoise, { noise_seed: 7n })
    const added = async (sigmas: readonly number[], latent_image = picture) =>
      samplesOf(await firstOf(addNoise, { model, noise, sigmas: Float32Array.from(sigmas), latent_image }))
    const { data } = createGenerator(7n).randn([1, 4, 4, 6])
    // The toy model halves latents for its network and doubles what comes back.
    const wanted = (scale: number) => near(data.map((value) => 2 * (0.5 + scale * value)))
    expect(await added([5, 3, 2])).toEqual(wanted(3))
    expect(await added([5])).toEqual(wanted(5))
    expect(await added([])).toEqual([...picture.samples.data])
    const broken = { samples: tensor([1, 4, 4, 6], new Float32Array(96).fill(Number.NaN)) }
    expect(await added([5], broken)).toEqual(new Array(96).fill(0))
  })
})

const hookFiles = [
  'apg',
  'cfg-norm',
  'cfg-zero-star',
  'differential-diffusion',
  'epsilon-scaling',
  'fre-sca',
  'latent-apply-operation-cfg',
  'mahiro',
  'perp-neg',
  'renorm-cfg',
  'tcfg',
  'video-linear-cfg-guidance',
  'video-triangle-cfg-guidance',
]
const hookNodes = await Promise.all(
  hookFiles.map(async (file) => (await import(`../../../src/workload/nodes/${file}.ts`)).default as AnyNode),
)
const numbers = { eta: 1, norm_threshold: 5, momentum: 0, strength: 1, scaling_factor: 1, neg_scale: 1, min_cfg: 1 }

describe('nodes that change how a model is sampled', () => {
  const sampled = async (node: AnyNode, values: Readonly<Record<string, unknown>>) =>
    await firstOf<DiffusionModel>(node, { model, ...values })

  it('exchange its noise levels and leave the model alone', async () => {
    const before = model.sampling
    const discrete = await sampled(modelSamplingDiscrete, { sampling: 'v_prediction', zsnr: true })
    expect(discrete.sampling.sigmas).toEqual(samplingModels.v_zsnr.sigmas)
    expect((await sampled(modelSamplingDiscrete, { sampling: 'lcm', zsnr: false })).sampling.sigmas).toHaveLength(50)
    expect((await sampled(modelSamplingSd3, { shift: 3 })).sampling.sigmas).toEqual(samplingModels.flow_shift3.sigmas)
    expect((await sampled(modelSamplingAuraFlow, { shift: 1 })).sampling.timestep(0.25)).toBe(0.25)
    const size = { max_shift: 1.15, base_shift: 0.5, width: 1024, height: 1024 }
    const flux = (await sampled(modelSamplingFlux, size)).sampling.sigmas
    expect([...flux.subarray(0, 9)]).toEqual(near(samplingModels['flux_1.15'].sigmas.subarray(0, 9)))
    const small = (await sampled(modelSamplingFlux, { ...size, width: 256, height: 256 })).sampling
    expect(small.percentToSigma(0.5)).toBeCloseTo(Math.exp(0.5) / (Math.exp(0.5) + 1), 6)
    expect((await sampled(modelSamplingStableCascade, { shift: 2 })).sampling.sigmas).toHaveLength(10_000)
    expect((await sampled(modelSamplingContinuousV, { sigma_max: 500, sigma_min: 0.03 })).sampling.sigma(0.5)).toBe(1)
    expect(model.sampling).toBe(before)
  })

  it('know continuous levels of every kind but one', async () => {
    const continuous = (sampling: string) =>
      sampled(modelSamplingContinuousEdm, { sampling, sigma_max: 80, sigma_min: 0.002 })
    expect((await continuous('edm')).sampling.sigmas).toEqual(samplingModels.edm.sigmas)
    const [x, out] = [filled([1, 1, 1, 1], 3), filled([1, 1, 1, 1], 0.5)]
    const denoised = async (kind: string) => (await continuous(kind)).sampling.denoised(x, out, 2).data[0]!
    expect(await denoised('eps')).toBe(2)
    expect(await denoised('v_prediction')).toBeCloseTo(3 / 5 - 1 / Math.sqrt(5), 6)
    expect(await denoised('edm')).toBeCloseTo((3 * 0.25) / 4.25 + (0.5 * 2 * 0.5) / Math.sqrt(4.25), 6)
    const playground = await continuous('edm_playground_v2.5')
    expect(playground.latent.processIn(zeros([1, 4, 1, 1])).data[0]).toBeCloseTo((1.6574 * 0.5) / 8.4927, 6)
    expect((await continuous('edm')).latent).toBe(model.latent)
    await expect(continuous('cosmos_rflow')).rejects.toThrow('cosmos_rflow')
  })

  it('add their changes behind those it has', async () => {
    const once = await sampled(rescaleCfg, { multiplier: 0.7 })
    const twice = await firstOf<DiffusionModel>(rescaleCfg, { model: once, multiplier: 0.5 })
    expect([model.guidance, once.guidance!.length, twice.guidance!.length]).toEqual([undefined, 1, 2])
  })

  it.each(hookNodes)('$type adds one change', async (node) => {
    const values = { ...numbers, empty_conditioning: [toyEntry(0)], operation: (latents: unknown) => latents }
    expect((await sampled(node, values)).guidance).toHaveLength(1)
    expect(model.guidance).toBeUndefined()
  })
})
