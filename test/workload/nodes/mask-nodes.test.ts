import { describe, expect, it } from 'vitest'
import cropMask from '../../../src/workload/nodes/crop-mask.ts'
import featherMask from '../../../src/workload/nodes/feather-mask.ts'
import growMask from '../../../src/workload/nodes/grow-mask.ts'
import imageColorToMask from '../../../src/workload/nodes/image-color-to-mask.ts'
import imageToMask from '../../../src/workload/nodes/image-to-mask.ts'
import invertMask from '../../../src/workload/nodes/invert-mask.ts'
import maskComposite from '../../../src/workload/nodes/mask-composite.ts'
import maskPreview from '../../../src/workload/nodes/mask-preview.ts'
import maskToImage from '../../../src/workload/nodes/mask-to-image.ts'
import solidMask from '../../../src/workload/nodes/solid-mask.ts'
import thresholdMask from '../../../src/workload/nodes/threshold-mask.ts'
import { filled, type Tensor, tensor } from '../../../src/workload/tensor/tensor.ts'
import { firstOf, nodeRoom } from '../../support/node-room.ts'

const mask = (...rows: readonly (readonly number[])[]): Tensor =>
  tensor([1, rows.length, rows[0]!.length], Float32Array.from(rows.flat()))
const linesOf = ({ dims: [, , width = 0], data }: Tensor) =>
  Array.from({ length: data.length / width }, (_, i) => [...data.subarray(i * width, (i + 1) * width)])
const lines = async (...run: Parameters<typeof firstOf>) => linesOf(await firstOf<Tensor>(...run))

describe('masks and pictures', () => {
  const image = tensor([1, 1, 2, 4], Float32Array.from([0, 0.25, 0.5, 0.75, 1, 0.5, 0, 1]))

  it('become each other', async () => {
    expect([...(await firstOf<Tensor>(maskToImage, { mask: mask([0.25, 1]) })).data]).toEqual([
      0.25, 0.25, 0.25, 1, 1, 1,
    ])
    expect(await lines(imageToMask, { image, channel: 'blue' })).toEqual([[0.5, 0]])
    expect(await lines(imageToMask, { image, channel: 'alpha' })).toEqual([[0.75, 1]])
    await expect(firstOf(imageToMask, { image: filled([1, 1, 1, 3], 0), channel: 'alpha' })).rejects.toThrow(
      'the picture has no channel alpha',
    )
  })

  it('are found by a colour, rounded half to even', async () => {
    expect(await lines(imageColorToMask, { image, color: 0xff8000 })).toEqual([[0, 1]])
    expect(await lines(imageColorToMask, { image, color: 0x004080 })).toEqual([[1, 0]])
  })

  it('are shown and are no result', async () => {
    const { artifacts } = await maskPreview.run({ mask: mask([0.5]) }, (await nodeRoom()).context)
    expect(artifacts).toMatchObject([{ kind: 'image', retention: 'temp', pixels: { dims: [1, 1, 1, 3] } }])
  })
})

describe('a mask', () => {
  const steps = mask([0, 0.25, 0.5], [0.75, 1, 0.125])

  it('is plain, turned around, cut and compared', async () => {
    expect(await lines(solidMask, { value: 0.5, width: 2, height: 1 })).toEqual([[0.5, 0.5]])
    expect(await lines(invertMask, { mask: mask([0, 0.25, 1]) })).toEqual([[1, 0.75, 0]])
    expect(await lines(cropMask, { mask: steps, x: 1, y: 0, width: 9, height: 1 })).toEqual([[0.25, 0.5]])
    await expect(firstOf(cropMask, { mask: steps, x: 3, y: 0, width: 1, height: 1 })).rejects.toThrow('has no part of')
    expect(await lines(thresholdMask, { mask: steps, value: 0.5 })).toEqual([
      [0, 0, 0],
      [1, 1, 0],
    ])
    expect(await lines(thresholdMask, { mask: mask([0.1]), value: 0.1 })).toEqual([[0]])
  })

  it('fades out at its edges, the far ones beginning at the near edge as upstream has it', async () => {
    const sides = { mask: filled([1, 1, 5], 1), left: 0, top: 0, right: 0, bottom: 0 }
    expect(await lines(featherMask, { ...sides, left: 4 })).toEqual([[0.25, 0.5, 0.75, 1, 1]])
    expect(await lines(featherMask, { ...sides, right: 4 })).toEqual([[0.25, 1, 1, 0.75, 0.5]])
    expect(await lines(featherMask, { ...sides, mask: filled([1, 2, 1], 1), bottom: 9 })).toEqual([[0.5], [1]])
  })
})

describe('GrowMask', () => {
  const dot = mask([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0.5, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0])

  /** One pixel at a time, by definition: the largest or smallest of the 3 × 3 around it that lies inside. */
  function grown(rows: readonly (readonly number[])[], by: number, tapered: boolean): readonly (readonly number[])[] {
    const pick = by < 0 ? Math.min : Math.max
    let now = rows
    for (let step = 0; step < Math.abs(by); step++)
      now = now.map((row, y) =>
        row.map((_, x) => {
          const around = [-1, 0, 1].flatMap((dy) =>
            [-1, 0, 1].filter((dx) => !tapered || dx * dy === 0).map((dx) => now[y + dy]?.[x + dx]),
          )
          return pick(...around.filter((value) => value !== undefined))
        }),
      )
    return now
  }

  it.each([0, 1, 2, 3, -1, -2, 9, -9])('by %d is what its steps give', async (expand) => {
    const noise = mask(
      ...Array.from({ length: 9 }, (_, y) => Array.from({ length: 11 }, (_, x) => ((x * 7 + y * 13) % 16) / 16)),
    )
    for (const tapered_corners of [true, false])
      for (const input of [dot, noise])
        expect(await lines(growMask, { mask: input, expand, tapered_corners })).toEqual(
          grown(linesOf(input), expand, tapered_corners),
        )
  })
})

describe('MaskComposite', () => {
  const destination = mask([1, 0.25, 0.75], [0, 1, 0])
  const source = mask([0.5, 1, 1], [1, 1, 1])

  it.each([
    ['multiply', [0.125, 0.75]],
    ['add', [0.75, 1]],
    ['subtract', [0, 0]],
    ['and', [0, 1]],
    ['or', [0, 1]],
    ['xor', [0, 0]],
  ])('%s changes only where the second mask lies', async (operation, [second, third]) => {
    expect(await lines(maskComposite, { destination, source, x: 1, y: 0, operation })).toEqual([
      [1, second, third],
      [0, ...{ multiply: [1, 0], add: [1, 1], subtract: [0, 0], and: [1, 0], or: [1, 1], xor: [0, 1] }[operation]!],
    ])
  })

  it('leaves the mask as it is when the second lies outside, and says when the numbers do not fit', async () => {
    expect(await lines(maskComposite, { destination, source, x: 9, y: 0, operation: 'add' })).toEqual(
      linesOf(destination),
    )
    const three = filled([3, 1, 1], 1)
    const values = { destination: filled([2, 1, 1], 1), x: 0, y: 0, operation: 'add' }
    await expect(firstOf(maskComposite, { ...values, source: three })).rejects.toThrow('source has 3 pictures')
  })
})
