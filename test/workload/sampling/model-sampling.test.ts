import { describe, expect, it } from 'vitest'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { filled, type Tensor } from '../../../src/workload/tensor/tensor.ts'
import { readGoldens } from '../../support/goldens.ts'
import { type SamplingModelName, samplingModels } from '../../support/sampling-models.ts'

interface Table {
  readonly len: number
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly at: Readonly<Record<string, number>>
  readonly sum: number
}

const goldens = readGoldens<{
  readonly sigmas_table: Readonly<Record<SamplingModelName, Table>>
  readonly percent_to_sigma: Readonly<Record<SamplingModelName, Readonly<Record<string, number>>>>
  readonly timestep_of_sigma: Readonly<Record<SamplingModelName, Readonly<Record<string, number>>>>
}>('golden_sampling')

const expectNear = (value: number, wanted: number, tolerance = 1e-6 * Math.abs(wanted)) =>
  expect(Math.abs(value - wanted)).toBeLessThanOrEqual(tolerance)
const near = ({ data }: Tensor) => [...data].map((value) => expect.closeTo(value, 4))
const names = Object.keys(samplingModels) as SamplingModelName[]

describe.each(names)('the levels of %s', (name) => {
  const model = samplingModels[name]

  it('are those of the reference, rising', () => {
    const { len, first, last, at, sum } = goldens.sigmas_table[name]
    expect(model.sigmas).toHaveLength(len)
    for (const [i, sigma] of first.entries()) expectNear(model.sigmas[i]!, sigma)
    for (const [i, sigma] of last.entries()) expectNear(model.sigmas.at(i - 3)!, sigma)
    for (const [i, sigma] of Object.entries(at)) expectNear(model.sigmas[Number(i)]!, sigma)
    expectNear(
      model.sigmas.reduce((total, sigma) => total + sigma, 0),
      sum,
    )
    expect([model.sigmaMin, model.sigmaMax]).toEqual([model.sigmas[0], model.sigmas.at(-1)])
  })

  it('have timesteps', () => {
    const tolerance = name === 'eps' || name === 'v_zsnr' ? 0 : 1e-6
    for (const [sigma, timestep] of Object.entries(goldens.timestep_of_sigma[name]))
      expectNear(model.timestep(Math.fround(Number(sigma))), timestep, tolerance)
  })

  it('are found by how far a run has come', () => {
    for (const [percent, sigma] of Object.entries(goldens.percent_to_sigma[name]))
      expectNear(model.percentToSigma(Number(percent)), sigma)
  })
})

describe('predictions', () => {
  const dims = [1, 4, 2, 2]
  const image = createGenerator(1).randn(dims)
  const noise = createGenerator(2).randn(dims)

  it.each(names)('recover the image from what a perfect network of %s would give', (name) => {
    const model = samplingModels[name]
    const sigma = model.flow ? 0.7 : 2.5
    const x = model.addNoise(sigma, noise, image, false)
    const deviation = name === 'edm' ? 0.5 : 1
    const norm = Math.sqrt(sigma ** 2 + deviation ** 2)
    const perfect = {
      flow: (i: number) => noise.data[i]! - image.data[i]!,
      eps: (i: number) => noise.data[i]!,
      v: (i: number) => (noise.data[i]! - image.data[i]! * sigma) / norm,
      edm: (i: number) =>
        (image.data[i]! * sigma ** 2 - noise.data[i]! * sigma * deviation ** 2) / (sigma * deviation * norm),
    }
    const kind = model.flow ? 'flow' : name === 'v_zsnr' ? 'v' : name === 'edm' ? 'edm' : 'eps'
    const output = { dims, data: image.data.map((_, i) => perfect[kind](i)) }
    expect([...model.denoised(x, output, sigma).data]).toEqual(near(image))
  })

  it('feed networks of noised images at unit variance, and flow networks x itself', () => {
    const x = filled(dims, 5)
    expect(samplingModels.eps.scaleInput(x, 2).data[0]).toBeCloseTo(5 / Math.sqrt(5), 6)
    expect(samplingModels.flow_shift3.scaleInput(x, 0.5)).toEqual(x)
  })

  it('leave nothing of the image when noise begins at the highest level', () => {
    const { eps, flow_shift3: flow } = samplingModels
    expect(eps.addNoise(eps.sigmaMax, noise, filled(dims, 0), true).data[0]).toBeCloseTo(
      noise.data[0]! * Math.sqrt(1 + eps.sigmaMax ** 2),
      4,
    )
    expect([...flow.addNoise(1, noise, image, true).data]).toEqual(near(noise))
  })

  it('undo the mixing at the last level of a flow schedule', () => {
    const { flow_shift3: flow } = samplingModels
    const mixed = flow.addNoise(0.4, filled(dims, 0), image, false)
    expect([...flow.removeNoise(0.4, mixed).data]).toEqual(near(image))
  })
})
