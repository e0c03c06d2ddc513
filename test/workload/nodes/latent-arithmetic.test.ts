import { describe, expect, it } from 'vitest'
import type { Latent } from '../../../src/workload/model/ports.ts'
import latentAdd from '../../../src/workload/nodes/latent-add.ts'
import latentApplyOperation from '../../../src/workload/nodes/latent-apply-operation.ts'
import latentBlend from '../../../src/workload/nodes/latent-blend.ts'
import latentConcat from '../../../src/workload/nodes/latent-concat.ts'
import latentCrop from '../../../src/workload/nodes/latent-crop.ts'
import latentCut from '../../../src/workload/nodes/latent-cut.ts'
import latentFlip from '../../../src/workload/nodes/latent-flip.ts'
import latentInterpolate from '../../../src/workload/nodes/latent-interpolate.ts'
import latentMultiply from '../../../src/workload/nodes/latent-multiply.ts'
import latentOperationSharpen from '../../../src/workload/nodes/latent-operation-sharpen.ts'
import latentOperationTonemapReinhard from '../../../src/workload/nodes/latent-operation-tonemap-reinhard.ts'
import latentRotate from '../../../src/workload/nodes/latent-rotate.ts'
import latentSubtract from '../../../src/workload/nodes/latent-subtract.ts'
import { mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf } from '../../support/node-room.ts'

const latentOf = (node: AnyNode, values: Readonly<Record<string, unknown>>) => firstOf<Latent>(node, values)
/** 0, 1, 2 … */
const counting = (...dims: readonly number[]) => mapped(zeros(dims), (_, i) => i)
/** sin(step · i + offset), as the numbers computed with PyTorch have it. */
const waves = (dims: readonly number[], step = 1, offset = 0) =>
  mapped(zeros(dims), (_, i) => Math.sin(step * i + offset))
const of = (dims: readonly number[], ...values: readonly number[]) => tensor(dims, Float32Array.from(values))
const numbers = ({ samples }: Latent) => [...samples.data]

describe('latents turned and cut', () => {
  const samples = { samples: counting(1, 1, 2, 3), batchIndex: [1] } // 0 1 2 / 3 4 5

  it.each([
    ['none', [2, 3], [0, 1, 2, 3, 4, 5]],
    ['90 degrees', [3, 2], [3, 0, 4, 1, 5, 2]],
    ['180 degrees', [2, 3], [5, 4, 3, 2, 1, 0]],
    ['270 degrees', [3, 2], [2, 5, 1, 4, 0, 3]],
  ])('are turned clockwise by %s', async (rotation, size, values) => {
    const turned = await latentOf(latentRotate, { samples, rotation })
    expect(turned).toEqual({ samples: of([1, 1, ...size], ...values), batchIndex: [1] })
  })

  it.each([
    ['x-axis: vertically', [3, 4, 5, 0, 1, 2]],
    ['y-axis: horizontally', [2, 1, 0, 5, 4, 3]],
  ])('are mirrored along the %s', async (flip_method, values) => {
    expect(numbers(await latentOf(latentFlip, { samples, flip_method }))).toEqual(values)
  })

  it('are cut out at whole cells, eight of them at least where there are so many', async () => {
    const crop = async (values: object) =>
      latentOf(latentCrop, {
        samples: { samples: counting(1, 1, 10, 12) },
        width: 64,
        height: 64,
        x: 0,
        y: 0,
        ...values,
      })
    const inside = await crop({ x: 23, y: 8 })
    expect([inside.samples.dims, inside.samples.data[0]]).toEqual([[1, 1, 8, 8], 14])
    const beyond = await crop({ x: 800, y: 800, width: 800, height: 800 })
    expect([beyond.samples.dims, beyond.samples.data[0]]).toEqual([[1, 1, 8, 8], 28])
    const wide = await crop({ x: 16, width: 800 })
    expect(wide.samples.dims).toEqual([1, 1, 8, 10])
  })

  it.each([
    ['x', 1, 5, [1, 2, 4, 5]],
    ['x', -2, 1, [1, 4]],
    ['y', 9, 1, [3, 4, 5]],
    ['y', -9, 1, [0, 1, 2]],
    ['t', 0, 1, [0, 1, 2, 3, 4, 5]],
  ])('give a strip along %s from %d, %d wide', async (dim, index, amount, values) => {
    expect(numbers(await latentOf(latentCut, { samples, dim, index, amount }))).toEqual(values)
  })

  it.each([
    ['x', [1, 1, 2, 4], [0, 1, 2, 8, 3, 4, 5, 9]],
    ['-x', [1, 1, 2, 4], [8, 0, 1, 2, 9, 3, 4, 5]],
  ])('are put side by side along %s', async (dim, dims, values) => {
    const column = { samples: of([2, 1, 2, 1], 8, 9, 10, 11) }
    const joined = await latentOf(latentConcat, { samples1: samples, samples2: column, dim })
    expect(joined).toEqual({ samples: of(dims, ...values), batchIndex: [1] })
    await expect(latentOf(latentConcat, { samples1: samples, samples2: column, dim: 'y' })).rejects.toThrow(
      '1×1×3 and 1×1×1',
    )
  })

  it('are put below one another, or channel behind channel', async () => {
    const line = { samples: of([1, 1, 1, 3], 7, 8, 9) }
    const below = await latentOf(latentConcat, { samples1: samples, samples2: line, dim: '-y' })
    expect(below.samples).toEqual(of([1, 1, 3, 3], 7, 8, 9, 0, 1, 2, 3, 4, 5))
    const behind = await latentOf(latentConcat, { samples1: samples, samples2: samples, dim: 't' })
    expect(behind.samples).toEqual(of([1, 2, 2, 3], 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5))
  })
})

describe('arithmetic of latents', () => {
  const first = { samples: of([2, 1, 1, 2], 1, 2, 3, 4), batchIndex: [6, 7] }
  const single = { samples: of([1, 1, 1, 2], 10, 20) }

  it('adds, subtracts and multiplies, the second repeated to the first', async () => {
    const both = { samples1: first, samples2: single }
    expect(await latentOf(latentAdd, both)).toEqual({ samples: of([2, 1, 1, 2], 11, 22, 13, 24), batchIndex: [6, 7] })
    expect(numbers(await latentOf(latentSubtract, both))).toEqual([-9, -18, -7, -16])
    expect(numbers(await latentOf(latentMultiply, { samples: first, multiplier: -0.5 }))).toEqual([-0.5, -1, -1.5, -2])
  })

  it('brings the second to the size of the first, its middle cut out where the aspect differs', async () => {
    // 4 × 1 cells over 2 × 1: one cell goes on either side, what is left fits.
    const wide = { samples: of([1, 1, 1, 4], 50, 1, 2, 60) }
    expect(numbers(await latentOf(latentAdd, { samples1: first, samples2: wide }))).toEqual([2, 4, 4, 6])
    const other = { samples: zeros([1, 3, 1, 2]) }
    await expect(latentOf(latentAdd, { samples1: first, samples2: other })).rejects.toThrow('channels are 3 and 1')
  })

  it('blends latents of one shape', async () => {
    const blend = (samples2: Latent) => latentOf(latentBlend, { samples1: first, samples2, blend_factor: 0.25 })
    expect(numbers(await blend({ samples: of([2, 1, 1, 2], 5, 6, 7, 8) }))).toEqual([4, 5, 6, 7])
    await expect(blend(single)).rejects.toThrow('shapes are 2×1×1×2 and 1×1×1×2')
  })

  it('interpolates directions and magnitudes apart', async () => {
    const interpolate = (a: Tensor, b: Tensor, ratio: number) =>
      latentOf(latentInterpolate, { samples1: { samples: a }, samples2: { samples: b }, ratio })
    // (3, 0) and (0, 1) at one half: along the diagonal, 2 long.
    const diagonal = await interpolate(of([1, 2, 1, 1], 3, 0), of([1, 2, 1, 1], 0, 1), 0.5)
    for (const value of numbers(diagonal)) expect(value).toBeCloseTo(Math.SQRT2, 6)
    expect(numbers(await interpolate(of([1, 2, 1, 1], 0, 0), of([1, 2, 1, 1], 0, 0), 0.5))).toEqual([0, 0])
    expectValues((await interpolate(waves([1, 4, 3, 5]), waves([1, 4, 3, 5], 0.7, 1), 0.3)).samples, {
      ...{ 0: 0.7433137, 1: 0.9483814, 2: 1.0083787, 3: 0.1399632 },
      ...{ 20: 0.7822288, 30: -0.393377, 58: -0.2631421, 59: -1.0574802 },
    })
    await expect(interpolate(zeros([2, 4, 1, 1]), zeros([2, 4, 1, 1]), 0.5)).rejects.toThrow('one picture at a time')
  })
})

describe('operations on latents', () => {
  const applied = async (node: AnyNode, settings: object, samples: Tensor) => {
    const operation = await firstOf(node, { ...settings })
    return latentOf(latentApplyOperation, { samples: { samples, batchIndex: [3] }, operation })
  }

  it('compress large magnitudes, each picture by its own', async () => {
    const samples = mapped(waves([2, 4, 3, 5], 1.3), (value, i) => value * (i < 60 ? 1 : 7))
    const result = await applied(latentOperationTonemapReinhard, { multiplier: 0.5 }, samples)
    expect(result.batchIndex).toEqual([3])
    expectValues(result.samples, {
      ...{ 0: 0, 1: 0.3870917, 2: 0.2183959, 3: -0.2640224 },
      ...{ 40: 0.3787271, 60: 1.5476981, 118: 1.3965311, 119: -2.1189744 },
    })
  })

  it('sharpen directions', async () => {
    const settings = { sharpen_radius: 3, sigma: 0.8, alpha: 0.1 }
    const { samples } = await applied(latentOperationSharpen, settings, waves([2, 4, 8, 7], 1.3))
    expectValues(samples, {
      ...{ 0: 0.0149665, 1: 1.9374553, 2: 1.0291057, 3: -1.3794309 },
      ...{ 149: -1.7777236, 224: 1.6652826, 446: 1.9798723, 447: 0.2061885 },
    })
    await expect(applied(latentOperationSharpen, settings, zeros([1, 4, 3, 9]))).rejects.toThrow(
      'radius of 3 is too large',
    )
  })
})

/** Some values of `t` by their place; computed with PyTorch from the formulas. */
function expectValues({ data }: Tensor, values: Readonly<Record<number, number>>): void {
  for (const [place, value] of Object.entries(values)) expect(data[Number(place)]).toBeCloseTo(value, 5)
}
