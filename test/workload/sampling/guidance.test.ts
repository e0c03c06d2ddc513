import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Conditioning } from '../../../src/workload/model/conditioning.ts'
import { createCfgGuider } from '../../../src/workload/sampling/guidance.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { takeRows } from '../../../src/workload/tensor/rows.ts'
import { type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { createToyModel, toyEntry } from '../../support/toy-diffusion-model.ts'

/** What a run over latents in the shape of `x` tells its guider. */
const runOver = (x: Tensor, signal = new AbortController().signal) => ({
  latent: zeros(x.dims),
  noiseMask: undefined,
  asksNegative: false,
  signal,
})
const noisy = (rows: number) => createGenerator(3).randn([rows, 4, 4, 6])
const near = (t: Tensor) => [...t.data].map((value) => expect.closeTo(value, 4))

async function guided(positive: Conditioning, negative: Conditioning, cfg: number, x = noisy(2), sigma = 3) {
  const { model, calls } = createToyModel()
  const { denoised } = await createCfgGuider({ model, positive, negative, cfg }).guide(runOver(x))(x, sigma)
  return { denoised, calls }
}

describe('guidance', () => {
  it('asks for both sides of N latents in one pass of 2N rows, the negative first, each row at its timestep', async () => {
    const { calls } = await guided([toyEntry(1)], [toyEntry(0)], 7)
    const timestep = createToyModel().model.sampling.timestep(3)
    expect(calls).toEqual([
      { rows: 4, timesteps: new Array(4).fill(timestep), contextDims: [4, 3, 2], contextMeans: [0, 0, 1, 1] },
    ])
  })

  it('does not ask for the negative at cfg 1', async () => {
    const { denoised, calls } = await guided([toyEntry(1)], [toyEntry(0)], 1)
    expect(calls.map(({ rows }) => rows)).toEqual([2])
    expect([...denoised.data]).toEqual(near((await guided([toyEntry(1)], [toyEntry(5)], 1)).denoised))
  })

  it('goes from the negative towards the positive and beyond', async () => {
    const x = noisy(1)
    const alone = async (value: number) => (await guided([toyEntry(value)], [], 1, x)).denoised
    const [positive, negative] = [await alone(1), await alone(-0.5)]
    const { denoised } = await guided([toyEntry(1)], [toyEntry(-0.5)], 7, x)
    const wanted = negative.data.map((value, i) => value + 7 * (positive.data[i]! - value))
    expect([...denoised.data]).toEqual([...wanted].map((value) => expect.closeTo(value, 3)))
  })

  it('repeats token sequences to a common length, which changes nothing', async () => {
    const { denoised, calls } = await guided([toyEntry(1, 6)], [toyEntry(0, 4)], 7)
    expect(calls.map(({ contextDims }) => contextDims)).toEqual([[4, 12, 2]])
    expect([...denoised.data]).toEqual(near((await guided([toyEntry(1, 5)], [toyEntry(0, 5)], 7)).denoised))
  })

  it('asks separately where the lengths have no common multiple nearby, or the inputs differ', async () => {
    const far = await guided([toyEntry(1, 5)], [toyEntry(0, 7)], 7)
    expect(far.calls.map(({ rows }) => rows)).toEqual([2, 2])
    const pooled = { ...toyEntry(1), pooled: takeRows(toyEntry(2).context, 0, 1) }
    const other = await guided([pooled], [toyEntry(0)], 7)
    expect(other.calls.map(({ rows }) => rows)).toEqual([2, 2])
    expect([...other.denoised.data]).toEqual(near((await guided([toyEntry(1)], [toyEntry(0)], 7)).denoised))
  })

  it('averages several entries by their strengths, all in the same pass', async () => {
    const { denoised, calls } = await guided([toyEntry(1, 3, 3), toyEntry(5, 3, 1)], [toyEntry(0)], 7)
    expect(calls.map(({ rows }) => rows)).toEqual([6])
    expect([...denoised.data]).toEqual(near((await guided([toyEntry(2)], [toyEntry(0)], 7)).denoised))
  })

  it('asks nothing once it is told to stop', async () => {
    const { model, calls } = createToyModel()
    const guider = createCfgGuider({ model, positive: [toyEntry(1)], negative: [toyEntry(0)], cfg: 7 })
    const guess = guider.guide(runOver(noisy(1), AbortSignal.abort()))
    await expect(guess(noisy(1), 3)).rejects.toThrow(/aborted/)
    expect(calls).toEqual([])
  })

  it('gives every row of a batch what it would have got alone', async () => {
    const value = fc.float({ min: -2, max: 2, noNaN: true })
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.float({ min: 1, max: 12, noNaN: true }),
      fc.float({ min: Math.fround(0.1), max: 14, noNaN: true }),
      value,
      value,
      async (rows, cfg, sigma, positive, negative) => {
        const x = noisy(rows)
        const sides = [[toyEntry(positive, 2)], [toyEntry(negative, 4)], cfg] as const
        const together = (await guided(...sides, x, sigma)).denoised
        for (let row = 0; row < rows; row++) {
          const alone = (await guided(...sides, takeRows(x, row, row + 1), sigma)).denoised
          expect([...takeRows(together, row, row + 1).data]).toEqual([...alone.data])
        }
      },
    )
    await fc.assert(property, { numRuns: 50 })
  })
})
