import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { encodePreview } from '../../../src/workload/image/encode-preview.ts'
import { sketchOf } from '../../../src/workload/image/sketch.ts'
import { filled, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'

const grey = { factors: [[1, 1, 1]] } as const

describe('a sketch of latents', () => {
  it('adds up what the channels of a cell say, and cuts off what is too dark or too bright', () => {
    const latents = tensor([1, 2, 1, 3], Float32Array.of(0, 1, -1, /* second channel */ 0, 0.5, 4))
    const colours = {
      factors: [
        [0.5, 0, -0.5],
        [0, 1, 0],
      ],
      bias: [0, 0, 0.25],
    } as const
    expect(sketchOf(latents, colours)).toEqual({
      width: 3,
      height: 1,
      channels: 3,
      data: Uint8Array.of(127, 127, 159, 191, 191, 95, 63, 255, 223),
    })
  })

  it('shows the first picture of a batch', () => {
    const batch = tensor([2, 1, 1, 2], Float32Array.of(1, -1, 0, 0))
    expect([...sketchOf(batch, grey).data]).toEqual([255, 255, 255, 0, 0, 0])
  })

  it('of large latents takes every second cell', () => {
    const { width, height, data } = sketchOf(filled([1, 1, 300, 257], 1), grey)
    expect([width, height, data.length]).toEqual([129, 150, 129 * 150 * 3])
    expect(data.every((value) => value === 255)).toBe(true)
  })

  it('survives numbers that are none', () => {
    expect([...sketchOf(filled([1, 1, 1, 1], Number.NaN), grey).data]).toEqual([0, 0, 0])
  })
})

it.each([
  [64, 64, 512, 512],
  [32, 96, 171, 512],
  [1, 1, 512, 512],
])('a sketch of %i × %i becomes a JPEG of %i × %i', async (width, height, wide, high) => {
  const jpeg = await encodePreview(sketchOf(zeros([1, 1, height, width]), grey))
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true })
  expect((await sharp(jpeg).metadata()).format).toBe('jpeg')
  expect([info.width, info.height, info.channels]).toEqual([wide, high, 3])
  expect(Math.abs(data[0]! - 127)).toBeLessThanOrEqual(1)
})
