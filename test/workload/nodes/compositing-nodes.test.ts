import { describe, expect, it } from 'vitest'
import imageCompositeMasked from '../../../src/workload/nodes/image-composite-masked.ts'
import joinImageWithAlpha from '../../../src/workload/nodes/join-image-with-alpha.ts'
import porterDuffImageComposite from '../../../src/workload/nodes/porter-duff-image-composite.ts'
import splitImageWithAlpha from '../../../src/workload/nodes/split-image-with-alpha.ts'
import { filled, type Tensor, tensor } from '../../../src/workload/tensor/tensor.ts'
import { firstOf, runNode } from '../../support/node-room.ts'

const image = (width: number, ...data: readonly number[]): Tensor =>
  tensor([1, 1, width, data.length / width], Float32Array.from(data))
const near = (actual: Iterable<number>, expected: readonly number[]) => {
  const values = [...actual]
  expect(values).toHaveLength(expected.length)
  for (const [i, value] of expected.entries()) expect(values[i]).toBeCloseTo(value, 6)
}

describe('PorterDuffImageComposite', () => {
  // Opacities: 0.5 above, 0.8 below; colours already multiplied by them.
  const [as, ad] = [0.5, 0.8]
  const [s, d] = [0.4 * as, 0.25 * ad]
  const union = as + ad - as * ad

  it.each([
    ['ADD', s + d, 1],
    ['CLEAR', 0, 0],
    ['DARKEN', 0.2 * s + 0.5 * d + Math.min(s, d), union],
    ['DST', d, ad],
    ['DST_ATOP', as * d + (1 - ad) * s, as],
    ['DST_IN', as * d, as * ad],
    ['DST_OUT', (1 - as) * d, (1 - as) * ad],
    ['DST_OVER', d + (1 - ad) * s, union],
    ['LIGHTEN', 0.2 * s + 0.5 * d + Math.max(s, d), union],
    ['MULTIPLY', s * d, as * ad],
    ['OVERLAY', 2 * s * d, union],
    ['SCREEN', s + d - s * d, union],
    ['SRC', s, as],
    ['SRC_ATOP', ad * s + (1 - as) * d, ad],
    ['SRC_IN', ad * s, as * ad],
    ['SRC_OUT', (1 - ad) * s, (1 - ad) * as],
    ['SRC_OVER', s + (1 - as) * d, union],
    ['XOR', (1 - ad) * s + (1 - as) * d, (1 - ad) * as + (1 - as) * ad],
  ])('%s', async (mode, colour, alpha) => {
    const [pixels, mask] = (await runNode(porterDuffImageComposite, {
      source: image(1, 0.4, 0.4, 0.4),
      source_alpha: filled([1, 1, 1], 1 - as),
      destination: image(1, 0.25, 0.25, 0.25),
      destination_alpha: filled([1, 1, 1], 1 - ad),
      mode,
    })) as [Tensor, Tensor]
    near(pixels.data.subarray(0, 1), [alpha === 0 ? 0 : Math.min(1, Math.max(0, colour / alpha))])
    near(mask.data, [1 - alpha])
  })

  it('overlays what is bright the other way', async () => {
    const [pixels] = (await runNode(porterDuffImageComposite, {
      source: image(1, 0.4),
      source_alpha: filled([1, 1, 1], 0),
      destination: image(1, 0.75),
      destination_alpha: filled([1, 1, 1], 0),
      mode: 'OVERLAY',
    })) as [Tensor]
    near(pixels.data, [1 - 2 * 0.6 * 0.25])
  })

  it('brings everything to the size of the lower picture, as many times as the shortest batch has', async () => {
    const values = {
      source: filled([3, 9, 5, 3], 0.5),
      source_alpha: filled([2, 4, 4], 0),
      destination: filled([4, 6, 8, 3], 1),
      destination_alpha: filled([3, 2, 2], 0),
    }
    const [pixels, mask] = (await runNode(porterDuffImageComposite, { ...values, mode: 'SRC_OVER' })) as [
      Tensor,
      Tensor,
    ]
    expect([pixels.dims, mask.dims]).toEqual([
      [2, 6, 8, 3],
      [2, 6, 8],
    ])
    near(
      pixels.data,
      Array.from({ length: 288 }, () => 0.5),
    )
    const other = { ...values, source: filled([3, 9, 5, 4], 0.5), mode: 'SRC' }
    await expect(firstOf(porterDuffImageComposite, other)).rejects.toThrow('source has 4 channels, destination 3')
  })
})

describe('transparency', () => {
  it('is joined from a mask of any size, as often as both have rows', async () => {
    const joined = await firstOf<Tensor>(joinImageWithAlpha, {
      image: filled([2, 1, 3, 4], 0.5),
      alpha: tensor([1, 1, 1], Float32Array.of(0.25)),
    })
    expect(joined.dims).toEqual([1, 1, 3, 4])
    expect([...joined.data.subarray(8)]).toEqual([0.5, 0.5, 0.5, 0.75])
  })

  it('is split off as a mask, which is empty for an opaque picture', async () => {
    const [colours, mask] = (await runNode(splitImageWithAlpha, { image: image(1, 0.1, 0.2, 0.3, 0.75) })) as [
      Tensor,
      Tensor,
    ]
    near(colours.data, [0.1, 0.2, 0.3])
    expect([mask.dims, [...mask.data]]).toEqual([[1, 1, 1], [0.25]])
    const [, none] = (await runNode(splitImageWithAlpha, { image: filled([2, 3, 4, 3], 1) })) as [Tensor, Tensor]
    expect(none).toEqual(filled([2, 3, 4], 0))
  })
})

describe('ImageCompositeMasked', () => {
  const values = { destination: image(4, 0, 0, 0, 0), source: image(2, 1, 0.5), x: 1, y: 0, resize_source: false }

  it.each([
    [{}, [0, 1, 0.5, 0]],
    [{ x: 3 }, [0, 0, 0, 1]],
    [{ x: 4 }, [0, 0, 0, 0]],
    [{ y: 1 }, [0, 0, 0, 0]],
    [{ mask: filled([1, 1, 1], 0.5) }, [0, 0.5, 0.25, 0]],
    [{ resize_source: true, x: 0 }, [1, 0.875, 0.625, 0.5]],
  ])('with %o lays one over the other', async (changed, expected) => {
    near((await firstOf<Tensor>(imageCompositeMasked, { ...values, ...changed })).data, expected)
  })

  it('takes the channels of the lower picture', async () => {
    const opaque = { destination: filled([1, 1, 1, 4], 0), source: filled([1, 1, 1, 3], 0.5), x: 0, y: 0 }
    near((await firstOf<Tensor>(imageCompositeMasked, { ...opaque, resize_source: false })).data, [0.5, 0.5, 0.5, 1])
  })
})
