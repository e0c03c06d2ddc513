import { describe, expect, it } from 'vitest'
import { cascadeSampling } from '../../../src/workload/sampling/cascade-sampling.ts'
import {
  angularSampling,
  discreteSampling,
  distilledSampling,
  edmSampling,
} from '../../../src/workload/sampling/model-sampling.ts'
import { alignedLevels } from '../../../src/workload/sampling/schedules/align-your-steps.ts'
import { betaLevels } from '../../../src/workload/sampling/schedules/beta.ts'
import { extendedLevels } from '../../../src/workload/sampling/schedules/extended.ts'
import { karrasLevels } from '../../../src/workload/sampling/schedules/karras.ts'
import { laplaceLevels } from '../../../src/workload/sampling/schedules/laplace.ts'
import { polyexponentialLevels } from '../../../src/workload/sampling/schedules/polyexponential.ts'
import { turboLevels } from '../../../src/workload/sampling/schedules/turbo.ts'
import { variancePreservingLevels } from '../../../src/workload/sampling/schedules/variance-preserving.ts'
import { playgroundLatents } from '../../../src/workload/sampling/standardised-latents.ts'
import { filled, tensor } from '../../../src/workload/tensor/tensor.ts'
import { samplingModels } from '../../support/sampling-models.ts'

const [high, low] = [14.614642, 0.0291675]
const { eps } = samplingModels
const expectLevels = (levels: Float32Array, wanted: readonly number[], tolerance = 1e-6) => {
  expect(levels).toHaveLength(wanted.length)
  for (const [i, level] of wanted.entries())
    expect(Math.abs(levels[i]! - level), `level ${i}`).toBeLessThanOrEqual(tolerance * level)
}

describe('schedules', () => {
  it.each([
    ['Karras with ρ 3', karrasLevels(5, low, high, 3), [14.614641, 6.9748487, 2.6073623, 0.59714705, 0.029167481, 0]],
    [
      'polyexponential with ρ 2',
      polyexponentialLevels(5, low, high, 2),
      [14.61464, 0.96291232, 0.13799757, 0.043017216, 0.029167501, 0],
    ],
    [
      'variance preserving',
      variancePreservingLevels(5, 19.9, 0.1, 0.001),
      [152.16698, 17.04912, 3.422245, 0.9575265, 0.010485994, 0],
    ],
    [
      'Laplace',
      laplaceLevels(5, { sigmaMin: low, sigmaMax: high, mu: 0.2, beta: 0.5 }),
      [14.614642, 1.7273071, 1.2214028, 0.86367083, 0.029167499],
    ],
    [
      'beta with α 2 and β ½',
      betaLevels(5, eps.sigmas, 2, 0.5),
      [14.614641, 13.120411, 9.4916739, 5.5545595, 2.5388342, 0],
    ],
    [
      'Align Your Steps, seven steps',
      alignedLevels('SD1', 7, 1),
      [14.614641, 5.189446, 2.836968, 1.7288997, 1.0714241, 0.60784775, 0.22914205, 0],
    ],
    ['Align Your Steps, four steps, half', alignedLevels('SD1', 4, 0.6), [1.3943805, 0.50938861, 0]],
    ['Turbo', turboLevels(3, 1, eps), [14.614641, 8.3028032, 5.0877632, 0]],
    ['Turbo, from later on', turboLevels(3, 0.19, eps), [eps.sigmas[99]!, 0]],
  ])('%s: the reference levels', (_name, levels, wanted) => {
    expectLevels(levels, wanted)
  })

  it('of ten aligned steps are those that were published', () => {
    expect([...alignedLevels('SVD', 10, 1)].slice(0, 3)).toEqual([700, 54.5, Math.fround(15.886)])
    expect(alignedLevels('SDXL', 10, 0)).toHaveLength(0)
  })

  it('take a schedule apart into more steps', () => {
    const sigmas = Float32Array.of(8, 4, 2, 0)
    const range = { steps: 2, highest: 4, lowest: 2 }
    const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5))
    expect([...extendedLevels(sigmas, { ...range, spacing: 'linear' })]).toEqual([8, 4, 3, 2, 1, 0])
    const part = Math.sin(Math.PI / 4)
    expect([...extendedLevels(sigmas, { ...range, spacing: 'cosine' })]).toEqual(
      near([8, 4, 4 - 2 * part, 2, 2 - 2 * part, 0]),
    )
    expect([...extendedLevels(sigmas, { ...range, spacing: 'sine' })]).toEqual(
      near([8, 4, 2 + 2 * part, 2, 2 * part, 0]),
    )
    expect([...extendedLevels(sigmas, { ...range, steps: 1, spacing: 'sine' })]).toEqual([8, 4, 2, 0])
  })
})

describe('the cosine levels of Cascade', () => {
  it.each([
    [1, [0.0100005, 0.42499482, 1.0123896, 99.995]],
    [2, [0.0100005, 0.84998963, 2.0247791, 99.995]],
  ])('follow the formula with shift %d', (shift, wanted) => {
    const sampling = cascadeSampling({ shift })
    expectLevels(Float32Array.from([0.0001, 0.25, 0.5, 1], sampling.sigma), wanted, 1e-5)
    expect([sampling.sigmas.length, sampling.sigmas[2499]]).toEqual([10_000, sampling.sigma(0.25)])
    expect(sampling.percentToSigma(0.5)).toBe(sampling.sigma(0.5))
    expect(sampling.sigma(0)).toBeCloseTo(0.0100005, 6)
  })

  it('have timesteps without the shift', () => {
    const { sigma, timestep } = cascadeSampling({ shift: 1 })
    for (const t of [0.1, 0.4, 0.8]) expect(timestep(sigma(t))).toBeCloseTo(t, 5)
    expect(cascadeSampling({ shift: 2 }).timestep(sigma(0.4))).toBeCloseTo(0.4, 5)
  })
})

describe('the levels of consistency models', () => {
  const sampling = distilledSampling()

  it('are every twentieth of the training levels', () => {
    expect([sampling.sigmas.length, sampling.sigmaMax]).toEqual([50, eps.sigmaMax])
    expect([0, 1, 49].map((i) => sampling.sigmas[i])).toEqual([19, 39, 999].map((i) => eps.sigmas[i]))
    expect([19, 39, 999].map((t) => sampling.timestep(eps.sigmas[t]!))).toEqual([19, 39, 999])
    expect(sampling.timestep(eps.sigmas[44]!)).toBe(39)
    expect(sampling.sigma(0)).toBeCloseTo(sampling.sigmas[0]!, 6)
    expect(sampling.sigma(29)).toBeCloseTo(Math.sqrt(eps.sigmas[19]! * eps.sigmas[39]!), 5)
    expect(distilledSampling({ zeroTerminalSnr: true }).sigmaMax).toBe(samplingModels.v_zsnr.sigmaMax)
  })

  it('mix the guess with x at the last of them', () => {
    const [x, out] = [filled([1, 1, 1, 1], 3), filled([1, 1, 1, 1], 0.5)]
    const [sigma, scaled] = [sampling.sigmas[0]!, 190]
    const wanted = (scaled / Math.sqrt(scaled ** 2 + 0.25)) * (3 - 0.5 * sigma) + (0.25 / (scaled ** 2 + 0.25)) * 3
    expect(sampling.denoised(x, out, sigma).data[0]).toBeCloseTo(wanted, 6)
  })
})

describe('other model samplings', () => {
  const x = filled([1, 1, 1, 1], 3)
  const out = filled([1, 1, 1, 1], 0.5)

  it('take the output of x0 networks for the image, and feed those from image to image x itself', () => {
    const [x0, imgToImg] = (['x0', 'imgToImg'] as const).map((prediction) => discreteSampling({ prediction }))
    expect([x0!.denoised(x, out, 2), imgToImg!.denoised(x, out, 2)]).toEqual([out, out])
    expect([x0!.scaleInput(x, 2).data[0], imgToImg!.scaleInput(x, 2)]).toEqual([Math.fround(3 / Math.sqrt(5)), x])
  })

  it('tell networks the angle between image and noise', () => {
    const sampling = angularSampling({ sigmaMin: 0.03, sigmaMax: 500 })
    expect([sampling.timestep(1), sampling.sigma(0.5)]).toEqual([0.5, 1])
    expect([sampling.sigmaMin, sampling.sigmaMax]).toEqual([Math.fround(0.03), 500].map((v) => expect.closeTo(v, 3)))
    expect(sampling.denoised(x, out, 2).data[0]).toBeCloseTo(3 / 5 - (0.5 * 2) / Math.sqrt(5), 6)
  })

  it('know continuous levels for networks of every prediction', () => {
    const range = { sigmaMin: 0.002, sigmaMax: 120, sigmaData: 1 }
    expect(edmSampling({ prediction: 'eps', ...range }).denoised(x, out, 2).data[0]).toBe(2)
    expect(edmSampling({ prediction: 'eps', ...range }).timestep(Math.E ** 2)).toBeCloseTo(0.5, 6)
  })

  it("standardise Playground's latents channel by channel, and back", () => {
    const latent = tensor([2, 4, 1, 1], Float32Array.of(-1.6574, 1.886, -1.383, 2.5155, 0, 0, 0, 1))
    const seen = playgroundLatents.processIn(latent)
    expect([...seen.data.subarray(0, 4)]).toEqual([0, 0, 0, 0].map((value) => expect.closeTo(value, 6)))
    expect(seen.data[4]).toBeCloseTo((1.6574 * 0.5) / 8.4927, 6)
    const back = playgroundLatents.processOut(seen)
    expect([...back.data]).toEqual([...latent.data].map((value) => expect.closeTo(value, 5)))
  })
})
