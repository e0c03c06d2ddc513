import { describe, expect, it } from 'vitest'
import type { DiffusionModel } from '../../../src/workload/model/ports.ts'
import kSamplerSelect from '../../../src/workload/nodes/k-sampler-select.ts'
import samplerDpmAdaptative from '../../../src/workload/nodes/sampler-dpm-adaptative.ts'
import samplerDpmpp2mSde from '../../../src/workload/nodes/sampler-dpmpp-2m-sde.ts'
import samplerDpmpp2sAncestral from '../../../src/workload/nodes/sampler-dpmpp-2s-ancestral.ts'
import samplerDpmpp3mSde from '../../../src/workload/nodes/sampler-dpmpp-3m-sde.ts'
import samplerDpmppSde from '../../../src/workload/nodes/sampler-dpmpp-sde.ts'
import samplerErSde from '../../../src/workload/nodes/sampler-er-sde.ts'
import samplerEulerAncestral from '../../../src/workload/nodes/sampler-euler-ancestral.ts'
import samplerEulerAncestralCfgpp from '../../../src/workload/nodes/sampler-euler-ancestral-cfgpp.ts'
import samplerEulerCfGpp from '../../../src/workload/nodes/sampler-euler-cf-gpp.ts'
import samplerLcmUpscale from '../../../src/workload/nodes/sampler-lcm-upscale.ts'
import samplerLms from '../../../src/workload/nodes/sampler-lms.ts'
import samplerSaSolver from '../../../src/workload/nodes/sampler-sa-solver.ts'
import { loadSamplers } from '../../../src/workload/sampling/load-samplers.ts'
import type { Sampler, SamplingRun } from '../../../src/workload/sampling/sampler.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { filled, mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import {
  deviationFrom,
  type GoldenSetting,
  goldenMean,
  goldenRun,
  goldenSettings,
  referenceOf,
} from '../../support/golden-sampling.ts'
import { type AnyNode, firstOf } from '../../support/node-room.ts'
import { samplingModels } from '../../support/sampling-models.ts'
import { createToyModel } from '../../support/toy-diffusion-model.ts'

type Values = Readonly<Record<string, unknown>>

const samplers = await loadSamplers()
const plain = (name: string) => samplers.get(name)!
const { model: toy } = createToyModel()

const noise = { eta: 1, s_noise: 1 }
const twoSteps = { solver_type: 'midpoint', ...noise, noise_device: 'gpu' }
const twoStages = { ...noise, r: 0.5, noise_device: 'cpu' }
const adaptive = {
  ...{ order: 3, rtol: 0.05, atol: 0.0078, h_init: 0.05, pcoeff: 0, icoeff: 1, dcoeff: 0, accept_safety: 0.81 },
  ...{ eta: 0, s_noise: 1 },
}
const extended = { solver_type: 'ER-SDE', max_stage: 3, ...noise }
const adams = {
  ...{ eta: 1, sde_start_percent: 0.2, sde_end_percent: 0.8, s_noise: 1, predictor_order: 3, corrector_order: 4 },
  ...{ use_pece: false, simple_order_2: false },
}

/** The sampler that a node gives; SamplerSASolver is told the model of the setting. */
const samplerOf = (node: AnyNode, values: Values, setting: GoldenSetting = 'eps/karras/8') => {
  const sampling = setting.startsWith('eps') ? samplingModels.eps : samplingModels.flow_shift3
  const model: DiffusionModel = { ...toy, sampling }
  return firstOf<Sampler>(node, { model, ...values })
}

const resultOf = async (sampler: Sampler, setting: GoldenSetting = 'eps/karras/8', wish: Partial<SamplingRun> = {}) =>
  (await goldenRun(setting, sampler, wish)).result

const nearTo = (t: Tensor, digits = 4) => Array.from(t.data, (value) => expect.closeTo(value, digits))

/** Where the reference problem's own differential equation leads, from `start` at the first level to `end`. */
function exactly(start: Tensor, from: number, end: number): Tensor {
  const part = Math.sqrt((1 + end ** 2) / (1 + from ** 2))
  return mapped(start, (value, i) => 2 * goldenMean(i) * (1 - part) + value * part)
}

describe.each<readonly [name: string, node: AnyNode, values: Values]>([
  ['euler_ancestral', samplerEulerAncestral, noise],
  ['euler_ancestral_cfg_pp', samplerEulerAncestralCfgpp, noise],
  ['lms', samplerLms, { order: 4 }],
  ['dpmpp_3m_sde', samplerDpmpp3mSde, { ...noise, noise_device: 'gpu' }],
  ['dpmpp_2m_sde', samplerDpmpp2mSde, twoSteps],
  ['dpmpp_2m_sde_heun', samplerDpmpp2mSde, { ...twoSteps, solver_type: 'heun' }],
  ['dpmpp_sde', samplerDpmppSde, twoStages],
  ['dpmpp_2s_ancestral', samplerDpmpp2sAncestral, noise],
  ['dpm_adaptive', samplerDpmAdaptative, adaptive],
  ['er_sde', samplerErSde, extended],
  ['sa_solver', samplerSaSolver, adams],
  ['sa_solver_pece', samplerSaSolver, { ...adams, use_pece: true }],
  ['euler_cfg_pp', samplerEulerCfGpp, { version: 'regular' }],
])('the node for %s', (name, node, values) => {
  it.each(goldenSettings)('with its settings untouched agrees with the reference on %s', async (setting) => {
    const sampler = await samplerOf(node, values, setting)
    const tolerance = name === 'dpm_adaptive' ? 1e-2 : 1e-4
    expect(deviationFrom(referenceOf(setting, name)!, await resultOf(sampler, setting))).toBeLessThan(tolerance)
  })
})

it('KSamplerSelect gives the sampler of that name', async () => {
  const node = kSamplerSelect({ samplers, schedulers: new Map(), files: async () => [], inputImages: async () => [] })
  for (const [name, sampler] of samplers) expect(await firstOf(node, { sampler_name: name })).toBe(sampler)
})

describe.each<readonly [name: string, node: AnyNode, values: Values]>([
  ['SamplerEulerAncestral', samplerEulerAncestral, noise],
  ['SamplerEulerAncestralCFGPP', samplerEulerAncestralCfgpp, noise],
  ['SamplerDPMPP_3M_SDE', samplerDpmpp3mSde, { ...noise, noise_device: 'gpu' }],
  ['SamplerDPMPP_2M_SDE', samplerDpmpp2mSde, twoSteps],
  ['SamplerDPMPP_SDE', samplerDpmppSde, twoStages],
  ['SamplerDPMPP_2S_Ancestral', samplerDpmpp2sAncestral, noise],
  ['SamplerDPMAdaptative', samplerDpmAdaptative, { ...adaptive, eta: 1 }],
  ['SamplerER_SDE', samplerErSde, extended],
  ['SamplerER_SDE of the reverse-time SDE', samplerErSde, { ...extended, solver_type: 'Reverse-time SDE' }],
  ['SamplerSASolver', samplerSaSolver, adams],
])('%s', (type, node, values) => {
  // Ends in noise, so that the noise of the last step counts as well.
  const sigmas = Float32Array.of(10, 6, 3, 1.5)
  const outcome = async (wish: Values, seed: bigint) =>
    resultOf(await samplerOf(node, { ...values, ...wish }), 'eps/karras/8', { sigmas, seed })

  it('takes its noise from the seed, and none with s_noise 0', async () => {
    expect(await outcome({}, 1n)).not.toEqual(await outcome({}, 2n))
    expect(await outcome({ s_noise: 0 }, 1n)).toEqual(await outcome({ s_noise: 0 }, 2n))
    expect(await outcome({ s_noise: 2 }, 1n)).not.toEqual(await outcome({}, 1n))
  })

  // The process of ER-SDE knows no eta.
  it.each(type === 'SamplerER_SDE' ? [] : [0])(
    'adds none with eta %d, which is another way than that of more',
    async (eta) => {
      expect(await outcome({ eta }, 1n)).toEqual(await outcome({ eta }, 2n))
      expect(await outcome({ eta }, 1n)).not.toEqual(await outcome({ s_noise: 0 }, 1n))
    },
  )
})

describe('without noise', () => {
  it.each<readonly [node: string, AnyNode, Values, known: string]>([
    ['SamplerEulerAncestral', samplerEulerAncestral, { ...noise, eta: 0 }, 'euler'],
    ['SamplerEulerAncestralCFGPP', samplerEulerAncestralCfgpp, { ...noise, eta: 0 }, 'euler_cfg_pp'],
    ['SamplerLMS of order 1', samplerLms, { order: 1 }, 'euler'],
    ['SamplerER_SDE of one stage', samplerErSde, { ...extended, solver_type: 'ODE', max_stage: 1 }, 'euler'],
    [
      'SamplerSASolver of order 1',
      samplerSaSolver,
      { ...adams, eta: 0, predictor_order: 1, corrector_order: 0 },
      'euler',
    ],
  ])('%s is a known sampler', async (_node, node, values, known) => {
    for (const setting of ['eps/karras/8', 'flow_shift3/simple/8'] as const) {
      const expected = await resultOf(plain(known), setting)
      // Those that work in λ begin a little below pure noise.
      expect([...(await resultOf(await samplerOf(node, values, setting), setting)).data]).toEqual(nearTo(expected, 3))
    }
  })

  it('SamplerDPMPP_2M_SDE is DPM-Solver++(2M)', async () => {
    const sampler = await samplerOf(samplerDpmpp2mSde, { ...twoSteps, eta: 0 })
    expect([...(await resultOf(sampler)).data]).toEqual(nearTo(await resultOf(plain('dpmpp_2m'))))
  })

  it('SamplerDPMPP_SDE and SamplerDPMPP_2S_Ancestral are both DPM-Solver++(2S)', async () => {
    const one = await resultOf(await samplerOf(samplerDpmppSde, { ...twoStages, eta: 0 }))
    const other = await resultOf(await samplerOf(samplerDpmpp2sAncestral, { ...noise, eta: 0 }))
    expect([...one.data]).toEqual(nearTo(other))
  })

  it.each<readonly [node: string, AnyNode, Values]>([
    ['SamplerDPMPP_3M_SDE', samplerDpmpp3mSde, { ...noise, eta: 0, noise_device: 'gpu' }],
    ['SamplerDPMPP_2M_SDE with Heun', samplerDpmpp2mSde, { ...twoSteps, solver_type: 'heun', eta: 0 }],
    ['SamplerDPMPP_SDE with another middle', samplerDpmppSde, { ...twoStages, eta: 0, r: 0.3 }],
    ['SamplerER_SDE of the ODE', samplerErSde, { ...extended, solver_type: 'ODE' }],
    ['SamplerSASolver', samplerSaSolver, { ...adams, eta: 0 }],
    ['SamplerSASolver outside its part', samplerSaSolver, { ...adams, sde_start_percent: 0, sde_end_percent: 0 }],
    ['SamplerSASolver with simple weights', samplerSaSolver, { ...adams, ...{ eta: 0, simple_order_2: true } }],
    [
      'SamplerSASolver of order 2 with simple weights',
      samplerSaSolver,
      { ...adams, ...{ eta: 0, simple_order_2: true, predictor_order: 2, corrector_order: 2 } },
    ],
    ['SamplerDPMAdaptative of order 2', samplerDpmAdaptative, { ...adaptive, order: 2, rtol: 0.001, atol: 0.001 }],
    ['SamplerDPMAdaptative', samplerDpmAdaptative, { ...adaptive, rtol: 0.0005, atol: 0.0005 }],
    ['SamplerLMS of order 3', samplerLms, { order: 3 }],
  ])('%s follows the differential equation', async (_node, node, values) => {
    const sigmas = Float32Array.from({ length: 61 }, (_, i) => 14 * (0.4 / 14) ** (i / 60))
    const { start, result } = await goldenRun('eps/karras/8', await samplerOf(node, values), { sigmas })
    expect([...result.data]).toEqual(nearTo(exactly(start, sigmas[0]!, sigmas.at(-1)!), 2))
  })
})

describe('SamplerER_SDE', () => {
  it('of the reverse-time SDE without noise is the ODE', async () => {
    const still = await samplerOf(samplerErSde, { ...extended, solver_type: 'Reverse-time SDE', eta: 0 })
    const ode = await samplerOf(samplerErSde, { ...extended, solver_type: 'ODE' })
    expect(await resultOf(still)).toEqual(await resultOf(ode))
  })

  it('of one stage weighs x by the power eta + 1 of the levels', async () => {
    const values = { solver_type: 'Reverse-time SDE', max_stage: 1, eta: 2, s_noise: 0 }
    const sampler = await samplerOf(samplerErSde, values)
    const denoise = async (x: Tensor) => filled(x.dims, 1)
    const { start, result } = await goldenRun('eps/karras/8', sampler, { sigmas: Float32Array.of(4, 2), denoise })
    expect([...result.data]).toEqual(nearTo(mapped(start, (value) => value / 8 + 7 / 8)))
  })
})

it('SamplerSASolver takes the part in which it adds noise from its model', async () => {
  // All levels are below 0.5 of this model's way; at 0.5 to 1 they are inside.
  const sampling = { ...samplingModels.eps, percentToSigma: (percent: number) => (1 - percent) * 40 }
  const model = { ...toy, sampling }
  const seeds = async (values: Values) => {
    const sampler = await firstOf<Sampler>(samplerSaSolver, { ...adams, model, ...values })
    return [
      await resultOf(sampler, 'eps/karras/8', { seed: 1n }),
      await resultOf(sampler, 'eps/karras/8', { seed: 2n }),
    ]
  }
  const [one, other] = await seeds({ sde_start_percent: 0, sde_end_percent: 0.5 })
  expect(one).toEqual(other)
  const [first, second] = await seeds({ sde_start_percent: 0.5, sde_end_percent: 1 })
  expect(first).not.toEqual(second)
})

it('SamplerDPMAdaptative asks more often the smaller the error may be', async () => {
  const calls = async (values: Values) =>
    (await goldenRun('eps/karras/8', await samplerOf(samplerDpmAdaptative, { ...adaptive, ...values }))).visited.length
  expect(await calls({ rtol: 0.001, atol: 0.0001 })).toBeGreaterThan(2 * (await calls({})))
  expect(await calls({ h_init: 2 })).not.toBe(await calls({}))
})

it.each([
  ['no error at all', { rtol: 0, atol: 0 }],
  ['a first step of no length', { h_init: 0 }],
  ['steps that grow a hundredfold', { accept_safety: 100 }],
])('SamplerDPMAdaptative says so when it is asked for %s', async (_what, values) => {
  const sampler = await samplerOf(samplerDpmAdaptative, { ...adaptive, ...values })
  await expect(resultOf(sampler)).rejects.toThrow('no step that its settings accept')
})

it('SamplerEulerCFGpp in its other form takes the guidance twice', async () => {
  const sampler = await samplerOf(samplerEulerCfGpp, { version: 'alternative' })
  expect(sampler.asksNegative).toBe(true)
  const denoisePair = async ({ dims }: Tensor) => ({ denoised: filled(dims, 1), negative: filled(dims, 0.25) })
  const { start, result } = await goldenRun('eps/karras/8', sampler, { sigmas: Float32Array.of(4, 3), denoisePair })
  expect([...result.data]).toEqual(nearTo(mapped(start, (value) => value - (value - 2 + 0.25) / 4)))
})

describe('SamplerLCMUpscale', () => {
  const upscale = { scale_ratio: 2, scale_steps: -1, upscale_method: 'bilinear' }
  /** The sides of x at each call of the model, and behind them those of the result. */
  const sides = async (values: Values) => {
    const seen: string[] = []
    const denoise = async (x: Tensor) => {
      seen.push(x.dims.slice(2).join('×'))
      return x
    }
    const sampler = await samplerOf(samplerLcmUpscale, { ...upscale, ...values })
    const result = await resultOf(sampler, 'eps/karras/8', { denoise })
    return [...seen, result.dims.slice(2).join('×')].join(' ')
  }

  it('grows in the first half of the steps', async () => {
    expect(await sides({})).toBe('4×4 5×5 6×6 7×7 8×8 8×8 8×8 8×8 8×8')
  })

  it('grows in as many steps as it is told, rounding halves to even', async () => {
    expect(await sides({ scale_steps: 1 })).toBe(`4×4${' 8×8'.repeat(8)}`)
    expect(await sides({ scale_steps: 2, scale_ratio: 2.25 })).toBe(`4×4 6×6${' 9×9'.repeat(7)}`)
    expect(await sides({ scale_steps: 0 })).toBe(`4×4${' 4×4'.repeat(8)}`)
  })

  it('draws its noise behind that of the start', async () => {
    const sampler = await samplerOf(samplerLcmUpscale, { ...upscale, scale_ratio: 1 })
    const dims = [1, 4, 4, 4]
    const denoise = async () => filled(dims, 0.5)
    const result = await resultOf(sampler, 'eps/karras/8', { sigmas: Float32Array.of(4, 2), denoise, seed: 9n })
    const generator = createGenerator(9n)
    generator.randn(dims)
    const drawn = generator.randn(dims)
    expect([...result.data]).toEqual(nearTo(mapped(zeros(dims), (_, i) => 0.5 + 2 * drawn.data[i]!)))
  })
})
