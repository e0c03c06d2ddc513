import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ResizeMethod, resized } from '../../../src/workload/tensor/resize.ts'
import { filled, mapped, sizeOf, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'

interface Golden {
  readonly resize: { readonly input_shape: number[]; readonly out: Record<string, number[]> }
}

const { resize } = JSON.parse(readFileSync('test/fixtures/goldens/golden_misc.json', 'utf8')) as Golden
/** The reference made its input in float32 throughout, also the argument of the sine. */
const input = mapped(zeros(resize.input_shape), (_, i) => 0.5 + 0.5 * Math.sin(Math.fround(Math.fround(0.7) * i)))
const methods = ['nearest-exact', 'bilinear', 'area', 'bicubic', 'bislerp', 'lanczos'] as const
const toByte = (value: number) => Math.round(255 * value)

describe('resizing', () => {
  it.each(Object.entries(resize.out))('agrees with the reference for %s', (name, expected) => {
    const [method, size, crop] = name.split('/') as [ResizeMethod, string, string]
    const [width, height] = size.split('x').map(Number) as [number, number]
    const result = resized(input, width, height, method, crop)
    expect(result.dims).toEqual([1, 3, height, width])
    if (method === 'lanczos') expect([...result.data].map(toByte)).toEqual(expected.map(toByte))
    else
      expect(Math.max(...expected.map((value, i) => Math.abs(value - result.data[i]!))), 'deviation').toBeLessThan(2e-6)
  })

  it.each(methods)('keeps a plain area plain with %s', (method) => {
    const plain = filled([2, 4, 6, 10], 0.6)
    const { dims, data } = resized(plain, 17, 4, method, 'disabled')
    expect(dims).toEqual([2, 4, 4, 17])
    for (const value of data) expect(value).toBeCloseTo(0.6, 5)
  })

  it.each(methods)('gives back an image that has the size already with %s', (method) => {
    const image = mapped(zeros([1, 3, 4, 5]), (_, i) => i / 255)
    const { data } = resized(image, 5, 4, method, 'center')
    expect([...data]).toEqual([...image.data].map((value) => expect.closeTo(value, 6)))
  })

  it.each(methods)('treats each row of a batch as it would alone with %s', (method) => {
    const dims = [2, 4, 5, 7]
    const batch = tensor(
      dims,
      Float32Array.from({ length: sizeOf(dims) }, (_, i) => 0.5 + 0.5 * Math.sin(i * i)),
    )
    const half = batch.data.length / 2
    const together = resized(batch, 9, 3, method, 'disabled').data
    const alone = [0, half].flatMap((from) => [
      ...resized(tensor([1, 4, 5, 7], batch.data.slice(from, from + half)), 9, 3, method, 'disabled').data,
    ])
    expect([...together]).toEqual(alone)
  })

  it('lets no colour leak out of transparent pixels with lanczos', () => {
    const [red, green, blue, alpha] = [
      [1, 1, 1, 0, 0],
      [0, 0, 0, 1, 1],
      [0, 0, 0, 0, 0],
      [1, 1, 1, 0, 0],
    ] as const
    const redBesideClear = tensor([1, 4, 1, 5], Float32Array.from([red, green, blue, alpha].flat()))
    const { data } = resized(redBesideClear, 3, 1, 'lanczos', 'disabled')
    expect([...data.subarray(3, 6)]).toEqual([0, 0, 0])
    expect([...data.subarray(0, 2)]).toEqual([1, 1])
  })

  it('refuses a size of nothing', () => {
    expect(() => resized(input, 0, 3, 'area', 'disabled')).toThrow('cannot resize to 0×3: a side must be 1 or more')
  })
})
