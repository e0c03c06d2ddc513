import { describe, expect, it } from 'vitest'
import type { GuessPair, Sampler } from '../../../src/workload/sampling/sampler.ts'
import cfgppUd10Ab from '../../../src/workload/sampling/samplers/cfgpp-ud10-ab.ts'
import eulerCfgPp from '../../../src/workload/sampling/samplers/euler-cfg-pp.ts'
import expHeun from '../../../src/workload/sampling/samplers/exp-heun-2-x0.ts'
import expHeunSde from '../../../src/workload/sampling/samplers/exp-heun-2-x0-sde.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { filled, mapped, scaled, type Tensor } from '../../../src/workload/tensor/tensor.ts'
import { samplingModels } from '../../support/sampling-models.ts'

/** Samplers that are newer than the reference numbers, against what mathematics says. */

const dims = [1, 1, 4, 5]
const { signal } = new AbortController()
const x = mapped(filled(dims, 0), (_, i) => 8 - i / 2)

type Guess = (x: Tensor, sigma: number) => Tensor

/** x after a run on this guess; `negative` is the one under the negative conditioning, 'unasked' when there is none. */
async function walked(
  sampler: Sampler,
  sigmas: readonly number[],
  guess: Guess,
  { negative = guess, flow = false, start = x }: { negative?: Guess | 'unasked'; flow?: boolean; start?: Tensor } = {},
) {
  const run = {
    denoise: async (at: Tensor, sigma: number) => guess(at, sigma),
    denoisePair: async (at: Tensor, sigma: number): Promise<GuessPair> => ({
      denoised: guess(at, sigma),
      negative: negative === 'unasked' ? undefined : negative(at, sigma),
    }),
    sigmas: Float32Array.from(sigmas),
    model: flow ? samplingModels.flow_shift3 : samplingModels.eps,
    seed: 3n,
    signal,
  }
  return sampler.sample(start, run)
}

const near = (values: Iterable<number>, digits = 4) => [...values].map((value) => expect.closeTo(value, digits))
const everywhere = (value: number) => near(filled(dims, value).data)

/** A guess that moves evenly with λ = -ln σ: an exponential method of second order follows it exactly. */
const evenly: Guess = (at, sigma) => filled(at.dims, -Math.log(sigma))

describe('exp_heun_2_x0', () => {
  it('is exact where the guess moves evenly with λ', async () => {
    const y = await walked(expHeun, [4, 1.5, 0.6], evenly)
    // x/σ has moved by ∫ e^λ·λ dλ = e^λ·(λ - 1).
    const moved = (sigma: number) => (-Math.log(sigma) - 1) / sigma
    expect([...y.data]).toEqual(near(x.data.map((value) => 0.6 * (value / 4 + moved(0.6) - moved(4)))))
  })

  it('is of second order: half the step, a quarter of the error', async () => {
    const guess: Guess = (at, sigma) => scaled(at, 1 / (1 + sigma ** 2))
    const exact = x.data[0]! * Math.sqrt((1 + 0.25 ** 2) / (1 + 8 ** 2))
    const errorOf = async (steps: number) => {
      const sigmas = Array.from({ length: steps + 1 }, (_, i) => 8 * (0.25 / 8) ** (i / steps))
      return Math.abs((await walked(expHeun, sigmas, guess)).data[0]! - exact)
    }
    const [coarse, fine] = [await errorOf(16), await errorOf(32)]
    expect(fine).toBeLessThan(1e-2)
    expect(coarse / fine).toBeGreaterThan(3.5)
    expect(coarse / fine).toBeLessThan(4.5)
  })

  it('draws no noise and ends in the guess', async () => {
    expect([...(await walked(expHeun, [4, 0.5, 0], evenly)).data]).toEqual(everywhere(Math.LN2))
  })

  it('begins just below the pure noise of flow models', async () => {
    const y = await walked(expHeun, [1, 0.5, 0], () => filled(dims, 0.3), { flow: true })
    expect([...y.data]).toEqual(everywhere(0.3))
  })
})

describe('exp_heun_2_x0_sde', () => {
  const [from, middle, to] = [4, 1.5, 0.6]
  /** The exact mean of a step: x shrinks by (σ'/σ)·e^-h, the guess counts as ∫ 2e^{-2(λ' - λ)}·λ dλ. */
  const step = (value: number, sigma: number, next: number) => {
    const [lambda, nextLambda] = [-Math.log(sigma), -Math.log(next)]
    const kept = (next / sigma) ** 2
    return kept * value + nextLambda - lambda * kept - (1 - kept) / 2
  }

  it('is exact where the guess moves evenly with λ, with two draws a step of which the second counts nothing', async () => {
    const y = await walked(expHeunSde, [from, middle, to], evenly)
    const generator = createGenerator(4n)
    const [first, , second] = [generator.randn(dims), generator.randn(dims), generator.randn(dims)]
    const deviation = (sigma: number, next: number) => next * Math.sqrt(1 - (next / sigma) ** 2)
    const expected = x.data.map((value, i) => {
      const halfway = step(value, from, middle) + deviation(from, middle) * first.data[i]!
      return step(halfway, middle, to) + deviation(middle, to) * second!.data[i]!
    })
    expect([...y.data]).toEqual(near(expected))
  })
})

describe('cfgpp_ud10_ab', () => {
  const start = filled(dims, 8)
  /** Guesses that fall by a tenth of the level. */
  const guess: Guess = (at, sigma) => filled(at.dims, 1 + sigma / 10)
  const options = { start, negative: (at: Tensor) => filled(at.dims, 0.5) }

  it('begins with a step of CFG++', async () => {
    // ε = (8 - 0.5)/4, x = 1.4 + 2·ε
    expect([...(await walked(cfgppUd10Ab, [4, 2], guess, options)).data]).toEqual(everywhere(5.15))
  })

  it('carries a tenth of the change of ε on and takes a quarter of the step from two rates', async () => {
    // Before: ε 1.875, rate -2.85/-2. Now ε = 4.65/2, carried 2.3475, move 1.2 + 2.3475 - 5.15 = -1.6025, rate 1.6025;
    // 0.75·-1.6025 + 0.25·(-1.25·1.6025 + 0.25·1.425) = -1.61359375
    expect([...(await walked(cfgppUd10Ab, [4, 2, 1], guess, options)).data]).toEqual(everywhere(3.53640625))
  })

  it('ends in the guess extrapolated to no noise', async () => {
    expect([...(await walked(cfgppUd10Ab, [4, 2, 1, 0], guess, options)).data]).toEqual(everywhere(1))
    expect([...(await walked(cfgppUd10Ab, [4, 0], guess, options)).data]).toEqual(everywhere(1.4))
  })

  it('mixes image and noise for flow models', async () => {
    // At σ 1 there is nothing of the image in x: ε = x; half of the guess 1.1 and half of ε.
    expect([...(await walked(cfgppUd10Ab, [1, 0.5], guess, { ...options, flow: true })).data]).toEqual(everywhere(4.55))
  })

  it('takes the guess for the negative one where that is not asked; CFG++ takes nought', async () => {
    const alone = { start, negative: 'unasked' } as const
    expect(cfgppUd10Ab).not.toHaveProperty('asksNegative')
    expect([...(await walked(cfgppUd10Ab, [4, 2], guess, alone)).data]).toEqual(everywhere(4.7)) // 1.4 + 2·6.6/4
    expect([...(await walked(eulerCfgPp, [4, 2], guess, alone)).data]).toEqual(everywhere(5.4)) // 1.4 + 2·8/4
  })
})
