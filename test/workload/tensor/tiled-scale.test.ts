import { describe, expect, it } from 'vitest'
import { resized } from '../../../src/workload/tensor/resize.ts'
import { mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { type Tiling, tileCount, tiledScale } from '../../../src/workload/tensor/tiled-scale.ts'
import { readGoldens } from '../../support/goldens.ts'

interface Golden {
  readonly input_shape: readonly number[]
  readonly tile_x: number
  readonly tile_y: number
  readonly overlap: number
  readonly upscale_amount: number
  readonly out_channels: number
  readonly shape: readonly number[]
  readonly row0: readonly number[]
  readonly row13: readonly number[]
  readonly sum: number
}

const { tiled_scale: golden } = readGoldens<{ readonly tiled_scale: Golden }>('golden_misc')
const input = mapped(zeros(golden.input_shape), (_, i) => Math.sin(Math.fround(Math.fround(0.13) * i)))
const tiling: Tiling = {
  tile: { width: golden.tile_x, height: golden.tile_y },
  overlap: golden.overlap,
  scale: golden.upscale_amount,
  channels: golden.out_channels,
}

const twice = (t: Tensor) => resized(t, t.dims[3]! * 2, t.dims[2]! * 2, 'nearest-exact', 'disabled')

/** What the goldens do with a tile: the mean of its channels, three times, larger the wider the tile. */
const goldenTile = async ({ dims: [, , h = 0, w = 0], data }: Tensor) => {
  const area = h * w
  const mean = Float32Array.from({ length: 3 * area }, (_, i) => {
    return ((data[i % area]! + data[area + (i % area)]!) / 2) * (1 + 0.01 * w)
  })
  return twice(tensor([1, 3, h, w], mean))
}

describe('tiling', () => {
  it('agrees with the reference', async () => {
    const { dims, data } = await tiledScale(input, tiling, goldenTile)
    expect(dims).toEqual(golden.shape)
    const row = (channel: number, y: number) => data.slice((channel * 40 + y) * 52, (channel * 40 + y + 1) * 52)
    for (const [wanted, got] of [
      [golden.row0, row(0, 0)],
      [golden.row13, row(1, 13)],
    ] as const)
      expect(Math.max(...wanted.map((value, i) => Math.abs(value - got[i]!)))).toBeLessThan(1e-6)
    expect(data.reduce((sum, value) => sum + value, 0)).toBeCloseTo(golden.sum, 4)
  })

  it('shows no seam where a tile gives what the whole picture would', async () => {
    const whole = twice(input)
    const { dims, data } = await tiledScale(input, { ...tiling, channels: 2 }, async (tile) => twice(tile))
    expect(dims).toEqual(whole.dims)
    expect(Math.max(...data.map((value, i) => Math.abs(value - whole.data[i]!)))).toBeLessThan(1e-6)
  })

  it('treats each row of a batch as it would alone', async () => {
    const batch = tensor([2, 1, 20, 26], input.data)
    const options = { ...tiling, channels: 1 }
    const run = async (tile: Tensor) => twice(tile)
    const alone = await tiledScale(tensor([1, 1, 20, 26], input.data.subarray(520)), options, run)
    const { dims, data } = await tiledScale(batch, options, run)
    expect(dims).toEqual([2, 1, 40, 52])
    expect(data.subarray(data.length / 2)).toEqual(alone.data)
  })

  it.each([
    [12, 16, 1],
    [13, 16, 2],
    [20, 26, 4],
    [20, 10, 2],
    [20, 29, 6],
  ])('makes of %d × %d pixels %d calls', async (height, width, calls) => {
    let count = 0
    await tiledScale(zeros([1, 1, height, width]), { ...tiling, channels: 1 }, async (tile) => {
      count += 1
      return twice(tile)
    })
    expect(count).toBe(calls)
    expect(tileCount(height, width, tiling)).toBe(calls)
  })

  it('makes pictures smaller too', async () => {
    const half = (t: Tensor) => resized(t, t.dims[3]! / 2, t.dims[2]! / 2, 'area', 'disabled')
    const { dims, data } = await tiledScale(input, { ...tiling, scale: 0.5, channels: 2 }, async (tile) => half(tile))
    expect(dims).toEqual([1, 2, 10, 13])
    const whole = half(input).data
    expect(Math.max(...data.map((value, i) => Math.abs(value - whole[i]!)))).toBeLessThan(1e-6)
  })

  it('refuses tiles that are nothing but overlap', async () => {
    await expect(tiledScale(input, { ...tiling, overlap: 12 }, goldenTile)).rejects.toThrow('cannot overlap by 12')
  })
})
