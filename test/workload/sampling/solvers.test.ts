import { describe, expect, it } from 'vitest'
import { sampleLatent } from '../../../src/workload/sampling/driver.ts'
import { createCfgGuider } from '../../../src/workload/sampling/guidance.ts'
import { lagrange, lagrangeIntegral } from '../../../src/workload/sampling/lagrange.ts'
import { solveLinear } from '../../../src/workload/sampling/linear-system.ts'
import type { Sampler } from '../../../src/workload/sampling/sampler.ts'
import cfgppUd10Ab from '../../../src/workload/sampling/samplers/cfgpp-ud10-ab.ts'
import dpmAdaptive from '../../../src/workload/sampling/samplers/dpm-adaptive.ts'
import dpmFast from '../../../src/workload/sampling/samplers/dpm-fast.ts'
import euler from '../../../src/workload/sampling/samplers/euler.ts'
import eulerCfgPp from '../../../src/workload/sampling/samplers/euler-cfg-pp.ts'
import uniPc from '../../../src/workload/sampling/samplers/uni-pc.ts'
import { createStepSize } from '../../../src/workload/sampling/solvers/step-size.ts'
import { adamsWeights } from '../../../src/workload/sampling/solvers/stochastic-adams.ts'
import { filled, zeros } from '../../../src/workload/tensor/tensor.ts'
import { goldenRun } from '../../support/golden-sampling.ts'
import { samplingModels } from '../../support/sampling-models.ts'
import { createToyModel, toyEntry } from '../../support/toy-diffusion-model.ts'

describe('polynomials', () => {
  it.each([1, 2, 4, 7, 10])('through %d points are integrated exactly', (count) => {
    const nodes = Array.from({ length: count }, (_, i) => 3 - 0.4 * i)
    const at = (v: number) => nodes.reduce((sum, _, power) => sum + v ** power, 0)
    const primitive = (v: number) => nodes.reduce((sum, _, power) => sum + v ** (power + 1) / (power + 1), 0)
    const value = nodes.reduce((sum, node, j) => sum + at(node) * lagrange(nodes, j, 1.2), 0)
    expect(value / at(1.2)).toBeCloseTo(1, 9)
    const integral = nodes.reduce((sum, node, j) => sum + at(node) * lagrangeIntegral(nodes, j, 3, 2), 0)
    expect(integral / (primitive(2) - primitive(3))).toBeCloseTo(1, 9)
  })

  it('against an exponential are integrated exactly by the weights of stochastic Adams steps', () => {
    const [from, to, tau] = [-1, 0.5, 0.7]
    const rate = 1 + tau ** 2
    const nodes = [-2, -1.4, -1]
    const weights = adamsWeights(nodes, { from, to, tau })
    const square = nodes.reduce((sum, node, j) => sum + node ** 2 * weights[j]!, 0)
    // ∫ rate·e^{-rate(to - λ)}·λ² dλ by the midpoint rule
    const points = 20_000
    let expected = 0
    for (let i = 0; i < points; i++) {
      const lambda = from + ((to - from) * (i + 0.5)) / points
      expected += (rate * Math.exp(-rate * (to - lambda)) * lambda ** 2 * (to - from)) / points
    }
    expect(square).toBeCloseTo(expected, 7)
  })
})

it('a linear system is solved, also where a pivot is nought', () => {
  const rows = [
    [0, 2, 1],
    [1, 1, 1],
    [2, 0, 3],
  ]
  expect(solveLinear(rows, [7, 6, 11])).toEqual([1, 2, 3].map((value) => expect.closeTo(value, 12)))
})

describe('the length of adaptive steps', () => {
  it('grows with accuracy but at most 1 + π/2 times, and shrinks after a step that is not good enough', () => {
    const good = createStepSize({ firstLength: 0.1 }, 3)
    expect(good.accepts(1e-12)).toBe(true)
    expect(good.length()).toBeCloseTo(0.1 * (1 + Math.PI / 2), 2)

    const bad = createStepSize({ firstLength: 0.1 }, 3)
    expect(bad.accepts(8)).toBe(false)
    expect(bad.length()).toBeCloseTo(0.1 * (1 + Math.atan(-0.5)), 6)
  })

  it('follows the last accepted errors where the weights say so', () => {
    const steps = createStepSize({ firstLength: 1, proportional: 1, integral: 0, derivative: 1, acceptFrom: 0 }, 1)
    steps.accepts(1)
    const before = steps.length()
    steps.accepts(0.5)
    // Powers 2, -3 and 1 of the accuracies 2, 1 and 1.
    expect(steps.length() / before).toBeCloseTo(1 + Math.atan(4 - 1), 5)
  })
})

describe('uni_pc', () => {
  it('takes its result to be at a level just above 0, so that flow models mix it accordingly', async () => {
    const samples = zeros([1, 4, 4, 4])
    const { model } = createToyModel()
    const guider = createCfgGuider({
      model: { ...model, sampling: samplingModels.flow_shift3 },
      positive: [toyEntry(0.2)],
      negative: [],
      cfg: 1,
    })
    const { signal } = new AbortController()
    const run = { guider, latent: { samples }, noise: samples, sigmas: Float32Array.of(1, 0.5, 0), seed: 0n, signal }
    const at = (level: number) =>
      sampleLatent({ ...run, sampler: { name: 'fixed', endsAt: () => level, sample: async () => filled([1], 9.99) } })
    const level = uniPc.endsAt!(run.sigmas)
    expect(level).toBeCloseTo(0.001, 9)
    expect((await at(level)).samples.data[0]).toBeCloseTo(2 * 10, 4) // the toy's pictures are twice its latents
    expect(uniPc.endsAt!(Float32Array.of(1, 0.5))).toBe(0.5)
  })

  it('refuses a single step', async () => {
    await expect(goldenRun('eps/normal/8', uniPc, { sigmas: Float32Array.of(5, 0) })).rejects.toThrow('2 steps or more')
  })
})

it('CFG++ asks the negative even at cfg 1, its multistep kin only where guidance does', async () => {
  const asked = async (sampler: Sampler, cfg: number) => {
    const { model, calls } = createToyModel()
    const guider = createCfgGuider({ model, positive: [toyEntry(0.2)], negative: [toyEntry(-0.1)], cfg })
    const latent = { samples: zeros([1, 4, 4, 4]) }
    const { signal } = new AbortController()
    const sigmas = Float32Array.of(4, 2, 0)
    await sampleLatent({ guider, latent, noise: filled([1, 4, 4, 4], 1), sampler, sigmas, seed: 0n, signal })
    return calls.map(({ rows }) => rows)
  }
  expect(await asked(eulerCfgPp, 1)).toEqual([2, 2])
  expect(await asked(cfgppUd10Ab, 1)).toEqual([1, 1])
  expect(await asked(cfgppUd10Ab, 2)).toEqual([2, 2])
})

describe('solvers with steps of their own', () => {
  it.each([
    [3, 'a two and a one', 2],
    [4, 'a three and a one', 2],
    [6, 'a three, a two and a one', 3],
  ])('dpm_fast asks the model %d times in %s', async (asked, _orders, own) => {
    const sigmas = Float32Array.from({ length: asked + 1 }, (_, i) => (i === asked ? 0 : 10 / (i + 1)))
    const reported: number[] = []
    const onStep = (step: number) => reported.push(step)
    const { visited } = await goldenRun('eps/normal/8', dpmFast, { sigmas, onStep })
    expect(visited).toHaveLength(asked)
    expect(reported).toEqual(Array.from({ length: own }, (_, i) => i + 1))
  })

  it('have no way to go in a schedule of one step', async () => {
    for (const sampler of [dpmFast, dpmAdaptive]) {
      const { start, result } = await goldenRun('eps/normal/8', sampler, { sigmas: Float32Array.of(5, 0) })
      expect(result).toEqual(start)
    }
    const { start, result } = await goldenRun('eps/normal/8', euler, { sigmas: Float32Array.of(5, 0) })
    expect(result).not.toEqual(start)
  })
})
