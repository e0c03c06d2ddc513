import { describe, expect, it } from 'vitest'
import type { Guesses, GuidanceHook } from '../../../src/workload/model/guidance.ts'
import { beginHooks, guided } from '../../../src/workload/sampling/hook-chain.ts'
import { differentialMask } from '../../../src/workload/sampling/hooks/differential.ts'
import { epsilonScaling } from '../../../src/workload/sampling/hooks/epsilon-scaling.ts'
import { frequencyScaledGuidance } from '../../../src/workload/sampling/hooks/frequency.ts'
import { operatedGuidance } from '../../../src/workload/sampling/hooks/latent-operation.ts'
import { normLimitedGuidance } from '../../../src/workload/sampling/hooks/norm.ts'
import { risingGuidance, triangularGuidance } from '../../../src/workload/sampling/hooks/per-frame.ts'
import { projectedGuidance } from '../../../src/workload/sampling/hooks/projected.ts'
import { renormedGuidance } from '../../../src/workload/sampling/hooks/renorm.ts'
import { rescaledGuidance } from '../../../src/workload/sampling/hooks/rescale.ts'
import { alignedGuidance } from '../../../src/workload/sampling/hooks/semantic.ts'
import { tangentialGuidance } from '../../../src/workload/sampling/hooks/tangential.ts'
import { zeroStarGuidance } from '../../../src/workload/sampling/hooks/zero-star.ts'
import { discreteSampling } from '../../../src/workload/sampling/model-sampling.ts'
import { filled, scaled, type Tensor, tensor } from '../../../src/workload/tensor/tensor.ts'

const dims = [2, 3, 5, 6]
const wave = (step: number, phase: number, height: number): Tensor =>
  tensor(
    dims,
    Float32Array.from({ length: 180 }, (_, i) => Math.fround(Math.sin(i * step + phase)) * height),
  )
const guesses: Guesses = {
  x: wave(0.37, 0.1, 3),
  sigma: 2.5,
  sampling: discreteSampling({ prediction: 'eps' }),
  positive: wave(0.53, 0.4, 1),
  negative: wave(0.91, 1.3, 0.8),
  cfg: 4,
}

/** The first, the 78th and the last value, the sum and the sum of squares. */
const signature = ({ data }: Tensor) => [
  data[0],
  data[77],
  data.at(-1),
  data.reduce((sum, value) => sum + value, 0),
  data.reduce((sum, value) => sum + value ** 2, 0),
]
const near = (values: readonly number[]) =>
  values.map((value) => expect.closeTo(value, Math.abs(value) > 20 ? 2 : Math.abs(value) > 2.5 ? 3 : 5))

/** Computed in torch from the papers' formulas, with its own SVD, FFT and norms. */
const expected: Readonly<Record<string, readonly [GuidanceHook, readonly number[]]>> = {
  'rescaled guidance': [rescaledGuidance(0.7), [-0.323706, -1.584188, 0.689736, 3.076921, 423.983665]],
  'CFG-Zero*': [zeroStarGuidance, [-0.547352, -3.136812, 1.703766, 4.456396, 1909.48224]],
  'norm-limited guidance': [normLimitedGuidance(1.5), [-0.242395, -0.501106, 1.35419, 3.525103, 202.199022]],
  'tangential damping': [tangentialGuidance, [-0.186872, -1.845977, 1.394926, 2.519617, 700.142727]],
  'adaptive projected guidance': [
    projectedGuidance({ eta: 0.3, normThreshold: 5, momentum: -0.5 }),
    [-1.133356, -2.041914, 0.077829, 1.444981, 570.020278],
  ],
  'guidance by frequency': [
    frequencyScaledGuidance({ low: 0.6, high: 1.25, cutoff: 2 }),
    [-0.617799, -2.822996, 1.901651, 2.775034, 1346.665991],
  ],
  'aligned guidance': [alignedGuidance, [0.613247, -2.203394, 2.691659, 5.00744, 1530.416017]],
  'renormed guidance': [renormedGuidance(100, 1.2), [-0.192756, -0.843605, 0.423223, 1.108072, 129.407384]],
  'epsilon scaling': [epsilonScaling(1.005), [-0.749621, -3.291904, 1.633206, 4.448334, 1951.901855]],
  'guidance rising over frames': [risingGuidance(1), [0.389418, -0.360959, 1.646608, -5.13314, 1030.395002]],
}

describe.each(Object.entries(expected))('%s', (_name, [hook, values]) => {
  it('gives what torch computes', () => {
    expect(signature(guided(beginHooks([hook]), guesses).denoised)).toEqual(near(values))
  })

  it('can do without a negative', () => {
    const { denoised } = guided(beginHooks([hook]), { ...guesses, negative: undefined, cfg: 1 })
    expect(denoised.data.every(Number.isFinite)).toBe(true)
  })
})

describe('adaptive projected guidance', () => {
  const hook = projectedGuidance({ eta: 0.3, normThreshold: 5, momentum: -0.5 })

  it('carries guidance on from step to step', () => {
    const run = beginHooks([hook])
    guided(run, guesses)
    const second = guided(run, { ...guesses, sigma: 2 })
    expect(signature(second.denoised)).toEqual(near([-0.924815, -1.81171, 0.184918, 1.435079, 461.965571]))
  })

  it('begins anew with every run, and where the noise level rises', () => {
    const run = beginHooks([hook])
    const fresh = guided(run, guesses)
    guided(run, { ...guesses, sigma: 2 })
    expect(guided(run, guesses)).toEqual(fresh)
    expect(guided(beginHooks([hook]), guesses)).toEqual(fresh)
  })
})

describe('guidance over the frames of a batch', () => {
  it('is strongest in the middle', () => {
    const frames = { ...guesses, positive: filled([5, 1, 1, 1], 1), negative: filled([5, 1, 1, 1], 0) }
    const { denoised } = guided(beginHooks([triangularGuidance(2)]), frames)
    expect([...denoised.data]).toEqual([2, 3, 4, 3, 2])
  })
})

describe('guidance changed by an operation', () => {
  it('has it applied to the difference, or to the guess where there is none', () => {
    const pair = { ...guesses, positive: filled(dims, 3), negative: filled(dims, 1) }
    const run = beginHooks([operatedGuidance((latents) => scaled(latents, 10))])
    expect(guided(run, pair).denoised.data[0]).toBe(1 + 4 * 20)
    expect(guided(run, { ...pair, negative: undefined }).denoised.data[0]).toBe(30)
  })
})

describe('guidance below a noise level only', () => {
  it('takes the positive above it', () => {
    expect(guided(beginHooks([renormedGuidance(2.5, 1)]), guesses).denoised).toBe(guesses.positive)
  })
})

describe('a differential mask', () => {
  const { sampling } = guesses
  const mask = tensor([1, 1, 1, 5], Float32Array.of(0, 0.25, 0.5, 0.75, 1))
  const sigmas = Float32Array.of(sampling.sigma(800), sampling.sigma(400), sampling.sigma(0), 0)
  const at = (timestep: number, strength = 1) => [
    ...differentialMask(strength).mask!(mask, { sigma: sampling.sigma(timestep), sigmas, sampling }).data,
  ]

  it('lets brighter places begin earlier', () => {
    expect([800, 600, 400, 200, 0].map((timestep) => at(timestep).filter((value) => value === 1).length)).toEqual([
      1, 2, 3, 4, 5,
    ])
  })

  it('keeps a part of the grey with less strength', () => {
    expect(at(400, 0.5)).toEqual([0, 0.125, 0.75, 0.875, 1])
  })
})
