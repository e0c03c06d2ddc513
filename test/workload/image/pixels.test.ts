import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rawImage } from '../../../src/workload/image/pixels.ts'
import { tensor } from '../../../src/workload/tensor/tensor.ts'

const { save8 } = JSON.parse(readFileSync('test/fixtures/goldens/golden_misc.json', 'utf8')) as {
  readonly save8: { readonly input: number[]; readonly output: number[] }
}

it('turns values into bytes as the reference does, cut off and not rounded', () => {
  const { data } = rawImage(tensor([1, 1, save8.input.length, 1], Float32Array.from(save8.input)), 0)
  expect([...data]).toEqual(save8.output)
})

it('turns what is not a number into black', () => {
  const values = Float32Array.from([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
  expect([...rawImage(tensor([1, 1, 1, 3], values), 0).data]).toEqual([0, 255, 0])
})

it('refuses what no image file can hold', () => {
  expect(() => rawImage(tensor([1, 1, 1, 5], new Float32Array(5)), 0)).toThrow('an image has 1 to 4 channels, not 5')
})
