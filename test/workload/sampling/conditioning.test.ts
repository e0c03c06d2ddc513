import { describe, expect, it } from 'vitest'
import type { Area, Conditioning, ConditioningEntry } from '../../../src/workload/model/conditioning.ts'
import { createCfgGuider } from '../../../src/workload/sampling/guidance.ts'
import { tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { createFlatModel, flatRun, guessAt, lineOf, text } from '../../support/flat-diffusion-model.ts'

const dims = [1, 1, 8, 16]
const cells = (height: number, width: number, y = 0, x = 0): Area => ({ unit: 'cells', height, width, y, x })
const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5))
const repeated = (value: number, count: number) => new Array<number>(count).fill(value)

/** The guess under these conditionings, and what the network was asked. */
async function guess(positive: Conditioning, negative: Conditioning = [], cfg = 1, sigma = 3, of = dims) {
  const { model, calls, requests } = createFlatModel()
  const { denoised } = await guessAt(createCfgGuider({ model, positive, negative, cfg }), of, sigma)
  return { denoised, calls, requests }
}

describe('an area', () => {
  it('is guessed at from that part of the picture alone, and fades out over a quarter of it at inner sides', async () => {
    const { denoised, calls } = await guess([text(1, { area: cells(8, 8) }), text(3)])
    expect(calls.map((call) => call.dims)).toEqual([
      [1, 1, 8, 8],
      [1, 1, 8, 16],
    ])
    for (const line of [0, 7])
      expect(lineOf(denoised, line)).toEqual(near([...repeated(2, 7), (0.5 + 3) / 1.5, ...repeated(3, 8)]))
  })

  it('fades out over eight cells at most', async () => {
    const { denoised } = await guess([text(1, { area: cells(40, 40, 1, 0) }), text(0)], [], 1, 3, [1, 1, 64, 64])
    const faded = (t: number) => (t + 1) / 8 / ((t + 1) / 8 + 1)
    expect([1, 2, 8, 9, 20].map((y) => lineOf(denoised, y)[0])).toEqual(near([faded(0), faded(1), faded(7), 0.5, 0.5]))
    expect(lineOf(denoised, 20).slice(32, 41)).toEqual(near([7, 6, 5, 4, 3, 2, 1, 0].map(faded).concat(0)))
  })

  it('leaves nothing where no entry reaches', async () => {
    const { denoised } = await guess([text(1, { area: cells(8, 8) })])
    expect(lineOf(denoised, 0)).toEqual([...repeated(1, 8), ...repeated(0, 8)])
  })

  it('may be told in shares of the picture, rounded half to even', async () => {
    const area: Area = { unit: 'share', height: 0.01, width: 0.28125, y: 0.3125, x: 0.53125 }
    const { denoised, calls } = await guess([text(1, { area })])
    expect(calls.map((call) => call.dims)).toEqual([[1, 1, 1, 4]])
    expect(lineOf(denoised, 2)).toEqual([...repeated(0, 8), ...repeated(1, 4), ...repeated(0, 4)])
  })

  it('is cut off at the border of the picture, where it does not fade', async () => {
    const { denoised } = await guess([text(1, { area: cells(99, 8, 0, 12) }), text(0)])
    expect(lineOf(denoised, 7).slice(11)).toEqual(near([0, 0.5, 0.5, 0.5, 0.5]))
    await expect(guess([text(1, { area: cells(8, 8, 0, 16) })])).rejects.toThrow('outside the latents of 16×8 cells')
  })

  it('counts by its strength beside others', async () => {
    const { denoised } = await guess([text(1, { area: cells(8, 16), strength: 3 }), text(5)])
    expect(lineOf(denoised, 0)).toEqual(near(repeated(2, 16)))
  })

  it('holds for the negative too, which is asked there about the same part', async () => {
    const { denoised, calls } = await guess([text(1, { area: cells(8, 8) })], [text(-1)], 2)
    expect(calls.map((call) => [call.dims[3], call.texts])).toEqual([
      [16, [-1]],
      [8, [-1, 1]],
    ])
    expect(lineOf(denoised, 0)).toEqual(near([...repeated(3, 8), ...repeated(1, 8)]))
  })

  it('takes the text of the smallest area around it on the other side', async () => {
    const negative = [text(7), text(5, { area: cells(8, 12) }), text(6, { area: cells(8, 14) })]
    const { calls } = await guess([text(1, { area: cells(4, 4) })], negative, 2)
    expect(calls.find((call) => call.dims[3] === 4)!.texts).toEqual([5, 1])
    const equal = await guess([text(1, { area: cells(4, 4) })], [text(2, { area: cells(4, 4) })], 2)
    expect(equal.calls.map((call) => call.texts)).toEqual([[2, 1]])
  })

  it('holds for the positive as well when the negative has it, even where the negative is not asked', async () => {
    const { calls } = await guess([text(1)], [text(2, { area: cells(8, 8) })], 1)
    expect(calls.map((call) => [call.dims[3], call.texts])).toEqual([
      [16, [1]],
      [8, [1]],
    ])
  })

  it('narrows the picture that the network sees beside x', async () => {
    const latent = tensor(
      dims,
      Float32Array.from({ length: 128 }, (_, i) => i),
    )
    const { denoised } = await guess([text(0, { area: cells(2, 2, 3, 4), concat: { latent } })])
    expect([lineOf(denoised, 3).slice(4, 6), lineOf(denoised, 4).slice(4, 6)]).toEqual([
      [52, 53],
      [68, 69],
    ])
  })
})

describe('a mask', () => {
  const half = tensor([1, 1, 2], Float32Array.of(1, 0))
  const masked = (values: Partial<NonNullable<ConditioningEntry['mask']>>) => ({
    mask: { mask: half, strength: 1, toBounds: false, ...values },
  })

  it('weighs an entry at each cell, scaled to the latents', async () => {
    const mask = tensor(
      [1, 8, 16],
      Float32Array.from({ length: 128 }, (_, i) => (i % 16) / 16),
    )
    const { denoised, calls } = await guess([text(1, masked({ mask, strength: 0.5 })), text(0)])
    expect(calls.map((call) => call.texts)).toEqual([[1, 0]])
    expect(lineOf(denoised, 5)).toEqual(near(Array.from({ length: 16 }, (_, x) => x / 32 / (x / 32 + 1))))
    const scaled = await guess([text(1, masked({})), text(0)])
    expect(lineOf(scaled.denoised, 0).slice(0, 4)).toEqual(near(repeated(0.5, 4)))
    expect(lineOf(scaled.denoised, 0).slice(12)).toEqual(repeated(0, 4))
  })

  it('shows the network only the rectangle that it fills when told to, eight cells at least', async () => {
    const mask = zeros([1, 16, 32])
    for (const [y, x] of [
      [2, 3],
      [12, 20],
    ] as const)
      mask.data[y * 32 + x] = 1
    const whole = [1, 1, 16, 32]
    const { calls, denoised } = await guess([text(1, masked({ mask, toBounds: true }))], [], 1, 3, whole)
    expect(calls.map((call) => call.dims)).toEqual([[1, 1, 11, 18]])
    expect([lineOf(denoised, 2)[3], lineOf(denoised, 2)[4], lineOf(denoised, 12)[20]]).toEqual([1, 0, 1])
    const empty = await guess([text(1, masked({ mask: zeros([1, 16, 32]), toBounds: true }))], [], 1, 3, whole)
    expect([empty.calls, empty.denoised]).toEqual([[], zeros(whole)])
  })

  it('may differ from row to row', async () => {
    const mask = tensor([2, 1, 1], Float32Array.of(1, 0))
    const { denoised } = await guess([text(4, masked({ mask })), text(0)], [], 1, 3, [4, 1, 1, 2])
    expect([...denoised.data]).toEqual([2, 2, 0, 0, 2, 2, 0, 0])
  })

  it('does not fit latents that grow on their way', async () => {
    const { model } = createFlatModel()
    const guider = createCfgGuider({ model, positive: [text(1, masked({}))], negative: [], cfg: 1 })
    const ask = guider.guide(flatRun(zeros(dims)))
    await expect(ask(zeros([1, 1, 16, 32]), 3)).rejects.toThrow('keep their size')
  })

  it('replaces the fading of an area', async () => {
    const { denoised } = await guess([
      text(1, { area: cells(8, 8), ...masked({ mask: tensor([1, 1, 1], Float32Array.of(1)) }) }),
      text(0),
    ])
    expect(lineOf(denoised, 0)).toEqual(near([...repeated(0.5, 8), ...repeated(0, 8)]))
  })
})

describe('a range', () => {
  const { sampling } = createFlatModel().model
  const entries = [text(1, { range: { start: 0.2, end: 0.6 } }), text(3)]
  const at = async (sigma: number) => (await guess(entries, [], 1, sigma)).denoised.data[0]
  const [start, end] = [sampling.percentToSigma(0.2), sampling.percentToSigma(0.6)]

  it('limits an entry to a part of the run, both ends included', async () => {
    expect(await Promise.all([start * 1.001, start, 3, end, end * 0.999].map(at))).toEqual([3, 2, 2, 2, 3])
  })

  it('leaves noughts when nothing applies', async () => {
    expect((await guess(entries.slice(0, 1), [], 1, end / 2)).denoised).toEqual(zeros(dims))
  })
})

it('entries are turned into inputs once a run, for the picture that it begins with', async () => {
  const { model, requests, calls } = createFlatModel()
  const guider = createCfgGuider({ model, positive: [text(1)], negative: [text(0)], cfg: 2 })
  const [latent, noiseMask] = [zeros(dims), zeros(dims)]
  const run = { latent, noiseMask, asksNegative: false, signal: new AbortController().signal }
  const ask = guider.guide(run)
  for (const sigma of [9, 4, 1]) await ask(zeros(dims), sigma)
  expect(calls).toHaveLength(3)
  const request = { height: 8, width: 16, latent, noiseMask }
  expect(requests).toEqual([
    { ...request, negative: false },
    { ...request, negative: true },
  ])
})
