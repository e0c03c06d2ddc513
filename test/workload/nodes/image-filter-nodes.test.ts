import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import canny from '../../../src/workload/nodes/canny.ts'
import imageAddNoise from '../../../src/workload/nodes/image-add-noise.ts'
import imageBlend from '../../../src/workload/nodes/image-blend.ts'
import imageBlur from '../../../src/workload/nodes/image-blur.ts'
import imageQuantize from '../../../src/workload/nodes/image-quantize.ts'
import imageRgbToyuv from '../../../src/workload/nodes/image-rgb-toyuv.ts'
import imageSharpen from '../../../src/workload/nodes/image-sharpen.ts'
import imageYuvTorgb from '../../../src/workload/nodes/image-yuv-torgb.ts'
import morphology from '../../../src/workload/nodes/morphology.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { filled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { firstOf, runNode } from '../../support/node-room.ts'

const pixel = (...channels: readonly number[]): Tensor =>
  tensor([1, 1, 1, channels.length], Float32Array.from(channels))
const values = async (...run: Parameters<typeof firstOf>) => [...(await firstOf<Tensor>(...run)).data]
const near = (actual: readonly number[], expected: readonly number[], digits = 6) => {
  expect(actual).toHaveLength(expected.length)
  for (const [i, value] of expected.entries()) expect(actual[i]).toBeCloseTo(value, digits)
}
/** Waves with edges, one picture. */
const waves = (height: number, width: number): Tensor =>
  mapped(zeros([1, height, width, 3]), (_, i) => {
    const [x, y, c] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3]
    return 0.5 + 0.3 * Math.sin(x / (3 + c)) * Math.cos(y / 4) + (x > y ? 0.15 : -0.15)
  })

describe('ImageBlend', () => {
  it.each([
    ['normal', [0.75, 0.25, 0.5]],
    ['multiply', [0.1875, 0.1875, 0.0625]],
    ['screen', [0.8125, 0.8125, 0.5625]],
    ['overlay', [0.375, 0.625, 0.125]],
    ['soft_light', [0.375, 0.65625, 0.125]],
    ['difference', [0, 0.5, 0]],
  ])('mixes by %s', async (blend_mode, expected) => {
    const image1 = pixel(0.25, 0.75, 0.125)
    const image2 = pixel(0.75, 0.25, 0.5)
    near(await values(imageBlend, { image1, image2, blend_factor: 1, blend_mode }), expected)
    const half = expected.map((value, i) => (value + [0.25, 0.75, 0.125][i]!) / 2)
    // What lies below nought is cut off only after mixing.
    if (blend_mode !== 'difference')
      near(await values(imageBlend, { image1, image2, blend_factor: 0.5, blend_mode }), half)
  })

  it('lightens softly with a root above a quarter', async () => {
    const mixed = { image1: pixel(0.64, 0.16), image2: pixel(1, 1), blend_factor: 1, blend_mode: 'soft_light' }
    near(await values(imageBlend, mixed), [0.8, ((16 * 0.16 - 12) * 0.16 + 4) * 0.16])
  })

  it('brings the second picture to the size and channels of the first, and takes one for many', async () => {
    const image1 = filled([2, 4, 6, 3], 0.25)
    const image2 = filled([1, 9, 9, 4], 0.75)
    const mixed = await firstOf<Tensor>(imageBlend, { image1, image2, blend_factor: 0.5, blend_mode: 'normal' })
    expect(mixed.dims).toEqual([2, 4, 6, 3])
    near(
      [...mixed.data],
      Array.from({ length: 144 }, () => 0.5),
    )
    const three = { image1, image2: filled([3, 4, 6, 3], 0), blend_factor: 0.5, blend_mode: 'normal' }
    await expect(firstOf(imageBlend, three)).rejects.toThrow('image1 has 2 pictures, which does not go with 3')
  })
})

describe('blur and sharpen', () => {
  const point = mapped(zeros([1, 5, 5, 1]), (_, i) => Number(i === 12))
  const side = Math.exp(-0.5)
  const sum = 1 + 2 * side

  it('spread a point by the Gaussian of the radius', async () => {
    const data = await values(imageBlur, { image: point, blur_radius: 1, sigma: 1 })
    near(
      [12, 13, 17, 18, 0].map((i) => data[i]!),
      [1, side, side, side ** 2, 0].map((value) => value / sum ** 2),
    )
  })

  it('mirror the picture in its outermost pixels, and need one that is larger than the radius', async () => {
    const ramp = tensor([1, 3, 3, 1], Float32Array.from([0, 0.5, 1, 0, 0.5, 1, 0, 0.5, 1]))
    const [first] = await values(imageBlur, { image: ramp, blur_radius: 1, sigma: 1 })
    expect(first).toBeCloseTo((2 * side * 0.5) / sum, 6)
    await expect(firstOf(imageBlur, { image: ramp, blur_radius: 3, sigma: 1 })).rejects.toThrow(
      'radius of 3 is too large',
    )
  })

  it('sharpen by ten times alpha of the difference, within 0 and 1', async () => {
    const image = mapped(point, (value) => 0.5 + value / 100)
    const data = await values(imageSharpen, { image, sharpen_radius: 1, sigma: 1, alpha: 0.5 })
    near(
      [12, 0].map((i) => data[i]!),
      [0.51 + 5 * (0.01 - 0.01 / sum ** 2), 0.5],
    )
    const strong = await values(imageSharpen, { image: point, sharpen_radius: 1, sigma: 1, alpha: 5 })
    expect([strong[12], strong[13]]).toEqual([1, 0])
  })
})

it('adds grain from the seed, value by value in the order of the picture, within 0 and 1', async () => {
  const image = filled([2, 3, 3, 3], 0.5)
  const noise = createGenerator(7n).randn([2, 3, 3, 3]).data
  const expected = [...noise].map((value) => Math.min(1, Math.max(0, 0.5 + 0.25 * value)))
  near(await values(imageAddNoise, { image, seed: 7n, strength: 0.25 }), expected)
})

describe('brightness and colour', () => {
  it('are told apart and joined again', async () => {
    const [Y, U, V] = (await runNode(imageRgbToyuv, { image: pixel(1, 0.5, 0.25, 0.9) })) as [Tensor, Tensor, Tensor]
    const brightness = 0.299 + 0.587 * 0.5 + 0.114 * 0.25
    near([...Y.data], [brightness, brightness, brightness])
    near([U.data[0]!, V.data[2]!], [(0.25 - brightness) * 0.564 + 0.5, (1 - brightness) * 0.713 + 0.5])
    near(await values(imageYuvTorgb, { Y, U, V }), [1, 0.5, 0.25], 2)
  })

  it('become colour by the mean of their channels, within 0 and 1', async () => {
    const [Y, U, V] = [pixel(0.4, 0.5, 0.6), pixel(0.6, 0.6, 0.6), pixel(0.4, 0.4, 0.4)]
    near(await values(imageYuvTorgb, { Y, U, V }), [0.5 - 0.1403, 0.5 + 0.0714 - 0.0344, 0.5 + 0.1773])
    near(await values(imageYuvTorgb, { Y: pixel(1), U: pixel(1), V: pixel(0) }), [0.2985, 1, 1])
    await expect(firstOf(imageYuvTorgb, { Y, U, V: zeros([1, 2, 1, 3]) })).rejects.toThrow('of one size')
  })
})

describe('Morphology', () => {
  const image = mapped(zeros([1, 9, 8, 1]), (_, i) => ((i * 7) % 16) / 16)
  /** The largest or smallest value of a square from `-back` to `size - back - 1` around each pixel, one by one. */
  const extreme = (data: readonly number[], size: number, back: number, pick: (...values: number[]) => number) =>
    data.map((_, i) => {
      const [x, y] = [i % 8, Math.floor(i / 8)]
      const inside: number[] = []
      for (let v = y - back; v < y - back + size; v++)
        for (let u = x - back; u < x - back + size; u++)
          if (u >= 0 && u < 8 && v >= 0 && v < 9) inside.push(data[v * 8 + u]!)
      return pick(...inside)
    })

  it.each([3, 4, 7, 99])('filters by squares of %d, the dilating one mirrored', async (kernel_size) => {
    const back = Math.floor(kernel_size / 2)
    const data = [...image.data]
    const erode = (from: readonly number[]) => extreme(from, kernel_size, back, Math.min)
    const dilate = (from: readonly number[]) => extreme(from, kernel_size, kernel_size - back - 1, Math.max)
    const minus = (a: readonly number[], b: readonly number[]) => a.map((value, i) => value - b[i]!)
    const run = (operation: string) => values(morphology, { image, operation, kernel_size })
    expect(await run('erode')).toEqual(erode(data))
    expect(await run('dilate')).toEqual(dilate(data))
    expect(await run('open')).toEqual(dilate(erode(data)))
    expect(await run('close')).toEqual(erode(dilate(data)))
    expect(await run('gradient')).toEqual(minus(dilate(data), erode(data)))
    expect(await run('top_hat')).toEqual(minus(data, dilate(erode(data))))
    expect(await run('bottom_hat')).toEqual(minus(erode(dilate(data)), data))
  })
})

describe('Canny', () => {
  const [height, width] = [19, 23]

  /** Step by step by the formulas, with whole pictures as lists. */
  function edges(image: Tensor, low: number, high: number): readonly number[] {
    const all = Array.from({ length: height * width }, (_, i) => [i % width, Math.floor(i / width)] as const)
    const clip = (value: number, size: number) => Math.max(0, Math.min(size - 1, value))
    const mirror = (value: number, size: number) =>
      value < 0 ? -value : value >= size ? 2 * (size - 1) - value : value
    const grey = all.map(
      (_, i) => 0.299 * image.data[3 * i]! + 0.587 * image.data[3 * i + 1]! + 0.114 * image.data[3 * i + 2]!,
    )
    const window = [-2, -1, 0, 1, 2]
    const total = window.reduce((sum, d) => sum + Math.exp(-d * d * 0.5), 0) ** 2
    const soft = all.map(([x, y]) =>
      window.reduce(
        (sum, v) =>
          sum +
          window.reduce(
            (line, u) =>
              line +
              (Math.exp(-(u * u + v * v) / 2) / total) * grey[mirror(y + v, height) * width + mirror(x + u, width)]!,
            0,
          ),
        0,
      ),
    )
    const at = (x: number, y: number) => soft[clip(y, height) * width + clip(x, width)]!
    const slopes = all.map(([x, y]) => {
      const across = [-1, 0, 1].reduce((sum, d) => sum + (2 - Math.abs(d)) * (at(x + 1, y + d) - at(x - 1, y + d)), 0)
      const down = [-1, 0, 1].reduce((sum, d) => sum + (2 - Math.abs(d)) * (at(x + d, y + 1) - at(x + d, y - 1)), 0)
      const angle = Math.round((Math.atan2(down, across) * 180) / Math.PI / 45)
      return { steepness: Math.sqrt(across ** 2 + down ** 2 + 1e-6), turn: (angle * Math.PI) / 4 }
    })
    const steep = (x: number, y: number) =>
      x < 0 || y < 0 || x >= width || y >= height ? 0 : slopes[y * width + x]!.steepness
    const levels = all.map(([x, y], i) => {
      const { steepness, turn } = slopes[i]!
      const [dx, dy] = [Math.round(Math.cos(turn)), Math.round(Math.sin(turn))]
      const ridge = steepness > steep(x + dx, y + dy) && steepness > steep(x - dx, y - dy) ? steepness : 0
      return 0.5 * Number(ridge > low) + 0.5 * Number(ridge > high)
    })
    for (let before = -1, now = 0; before !== now; ) {
      before = now
      for (const [i, [x, y]] of all.entries()) {
        const strong = window.some((v) =>
          window.some(
            (u) =>
              Math.abs(u * v) < 2 &&
              Math.abs(u) < 2 &&
              Math.abs(v) < 2 &&
              x + u >= 0 &&
              x + u < width &&
              levels[(y + v) * width + x + u] === 1,
          ),
        )
        if (levels[i] === 0.5 && strong) levels[i] = 1
      }
      now = levels.filter((level) => level === 1).length
    }
    return levels.map((level) => Number(level === 1))
  }

  it.each([
    [0.4, 0.8],
    [0.1, 0.2],
    [0.05, 0.9],
  ])('finds the edges between %d and %d that the formulas give', async (low_threshold, high_threshold) => {
    const image = waves(height, width)
    const data = await values(canny, { image, low_threshold, high_threshold })
    const expected = edges(image, low_threshold, high_threshold)
    expect(data.filter((_, i) => i % 3 === 0)).toEqual(expected)
    expect(data.filter((_, i) => i % 3 === 2)).toEqual(expected)
    expect(expected).toContain(1)
  })

  it('refuses thresholds in the wrong order', async () => {
    await expect(firstOf(canny, { image: waves(9, 9), low_threshold: 0.5, high_threshold: 0.4 })).rejects.toThrow(
      'low_threshold must not be above high_threshold',
    )
  })
})

describe('ImageQuantize', () => {
  const { width, height, cases } = JSON.parse(readFileSync('test/fixtures/pillow-quantize.json', 'utf8')) as {
    readonly width: number
    readonly height: number
    readonly cases: readonly { readonly colors: number; readonly dither: string; readonly rgb: string }[]
  }
  // A half more than a byte, which must be cut off.
  const image = mapped(zeros([1, height, width, 3]), (_, i) => {
    const [x, y, c] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3]
    return ((x * (11 + 5 * c) + y * (7 + 9 * c) + ((x * y * (c + 1)) % 23)) % 256) / 255 + 0.5 / 255
  })

  it.each(cases)('draws with $colors colours, dithered by $dither, as Pillow does', async ({ colors, dither, rgb }) => {
    const data = await values(imageQuantize, { image, colors, dither })
    expect(data.map((value) => Math.round(value * 255))).toEqual([...Buffer.from(rgb, 'base64')])
  })

  it('keeps a picture that has no more colours than asked for, when they are steps of four', async () => {
    const few = mapped(zeros([2, 4, 4, 3]), (_, i) => (((i * 5) % 3) * 100) / 255)
    near(await values(imageQuantize, { image: few, colors: 256, dither: 'floyd-steinberg' }), [...few.data])
  })

  it('tells more colours apart than it has room for by coarser steps', async () => {
    const many = mapped(zeros([1, 260, 260, 3]), (_, i) => {
      const place = Math.floor(i / 3)
      return [place % 256, Math.floor(place / 256) % 256, place % 251][i % 3]! / 255
    })
    const data = await values(imageQuantize, { image: many, colors: 2, dither: 'none' })
    expect(new Set(Array.from({ length: 260 * 260 }, (_, i) => data.slice(3 * i, 3 * i + 3).join())).size).toBe(2)
  })
})
