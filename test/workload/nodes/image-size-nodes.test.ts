import { describe, expect, it } from 'vitest'
import getImageSize from '../../../src/workload/nodes/get-image-size.ts'
import imageBatch from '../../../src/workload/nodes/image-batch.ts'
import imageCrop from '../../../src/workload/nodes/image-crop.ts'
import imageFlip from '../../../src/workload/nodes/image-flip.ts'
import imageFromBatch from '../../../src/workload/nodes/image-from-batch.ts'
import imagePadForOutpaint from '../../../src/workload/nodes/image-pad-for-outpaint.ts'
import imageRotate from '../../../src/workload/nodes/image-rotate.ts'
import imageScaleToMaxDimension from '../../../src/workload/nodes/image-scale-to-max-dimension.ts'
import imageScaleToTotalPixels from '../../../src/workload/nodes/image-scale-to-total-pixels.ts'
import imageStitch from '../../../src/workload/nodes/image-stitch.ts'
import repeatImageBatch from '../../../src/workload/nodes/repeat-image-batch.ts'
import resizeAndPadImage from '../../../src/workload/nodes/resize-and-pad-image.ts'
import { filled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { firstOf, runNode } from '../../support/node-room.ts'

/** Pictures of one channel, so that rows of numbers can be read. */
const grid = (...rows: readonly (readonly number[])[]): Tensor =>
  tensor([1, rows.length, rows[0]!.length, 1], Float32Array.from(rows.flat()))
const linesOf = ({ dims, data }: Tensor): readonly (readonly number[])[] => {
  const line = dims[2]! * (dims[3] ?? 1)
  return Array.from({ length: data.length / line }, (_, i) => [...data.subarray(i * line, (i + 1) * line)])
}
const lines = async (...run: Parameters<typeof firstOf>) => linesOf(await firstOf<Tensor>(...run))
const batch = (...values: readonly number[]): Tensor => tensor([values.length, 1, 1, 1], Float32Array.from(values))
const picture = (height: number, width: number, channels = 3): Tensor =>
  mapped(zeros([1, height, width, channels]), (_, i) => (i % 97) / 97)

describe('sizes', () => {
  it.each([
    [1, 1, [1, 836, 1254, 3]],
    [0.01, 1, [1, 84, 125, 3]],
    [0.01, 64, [1, 64, 128, 3]],
  ])('of %d megapixels in steps of %d keep the proportions', async (megapixels, resolution_steps, dims) => {
    const values = { image: picture(200, 300), upscale_method: 'nearest-exact', megapixels, resolution_steps }
    expect((await firstOf<Tensor>(imageScaleToTotalPixels, values)).dims).toEqual(dims)
  })

  it.each([
    [
      [200, 300],
      [1, 43, 64, 3],
    ],
    [
      [300, 200],
      [1, 64, 43, 3],
    ],
    [
      [50, 50],
      [1, 64, 64, 3],
    ],
  ])('of %j follow the longer side', async ([height, width], dims) => {
    const values = { image: picture(height!, width!), upscale_method: 'area', largest_size: 64 }
    expect((await firstOf<Tensor>(imageScaleToMaxDimension, values)).dims).toEqual(dims)
  })

  it('are told, with the number of pictures', async () => {
    expect(await runNode(getImageSize, { image: zeros([5, 3, 7, 3]) })).toEqual([7, 3, 5])
  })

  it('fit into a frame, in its middle', async () => {
    const values = { image: filled([1, 2, 4, 1], 0.5), interpolation: 'nearest-exact' }
    const frame = { target_width: 3, target_height: 4, padding_color: 'white' }
    expect(await lines(resizeAndPadImage, { ...values, ...frame })).toEqual([
      [1, 1, 1],
      [0.5, 0.5, 0.5],
      [1, 1, 1],
      [1, 1, 1],
    ])
    const [first] = await lines(resizeAndPadImage, { ...values, ...frame, target_height: 1, padding_color: 'black' })
    expect(first).toEqual([0.5, 0.5, 0])
  })
})

describe('batches', () => {
  it('are joined, the second in the size of the first and opaque', async () => {
    const { dims } = await firstOf<Tensor>(imageBatch, { image1: picture(4, 6), image2: picture(9, 5) })
    expect(dims).toEqual([2, 4, 6, 3])
    const joined = await firstOf<Tensor>(imageBatch, { image1: zeros([1, 1, 1, 4]), image2: zeros([2, 1, 1, 3]) })
    expect([...joined.data]).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1])
  })

  it('are repeated as a whole', async () => {
    expect(await lines(repeatImageBatch, { image: batch(1, 2), amount: 3 })).toEqual([[1], [2], [1], [2], [1], [2]])
  })

  it.each([
    [1, 1, [2]],
    [1, 9, [2, 3]],
    [7, 2, [3]],
  ])('give from %d on %d pictures', async (batch_index, length, expected) => {
    const taken = await firstOf<Tensor>(imageFromBatch, { image: batch(1, 2, 3), batch_index, length })
    expect([...taken.data]).toEqual(expected)
  })
})

describe('parts and turns', () => {
  const image = grid([1, 2, 3], [4, 5, 6])

  it.each([
    [{ x: 1, y: 0, width: 9, height: 1 }, [[2, 3]]],
    [{ x: 0, y: 1, width: 2, height: 1 }, [[4, 5]]],
    [{ x: 9, y: 9, width: 2, height: 2 }, [[6]]],
  ])('crops %o', async (rectangle, expected) => {
    expect(await lines(imageCrop, { image, ...rectangle })).toEqual(expected)
  })

  it.each([
    [
      'none',
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    [
      '90 degrees',
      [
        [4, 1],
        [5, 2],
        [6, 3],
      ],
    ],
    [
      '180 degrees',
      [
        [6, 5, 4],
        [3, 2, 1],
      ],
    ],
    [
      '270 degrees',
      [
        [3, 6],
        [2, 5],
        [1, 4],
      ],
    ],
  ])('turns by %s clockwise', async (rotation, expected) => {
    expect(await lines(imageRotate, { image, rotation })).toEqual(expected)
  })

  it.each([
    [
      'x-axis: vertically',
      [
        [4, 5, 6],
        [1, 2, 3],
      ],
    ],
    [
      'y-axis: horizontally',
      [
        [3, 2, 1],
        [6, 5, 4],
      ],
    ],
  ])('mirrors along the %s', async (flip_method, expected) => {
    expect(await lines(imageFlip, { image, flip_method })).toEqual(expected)
  })
})

describe('room around a picture', () => {
  const values = { image: filled([1, 5, 5, 1], 0), left: 0, top: 0, right: 0, bottom: 0, feathering: 2 }

  it('is grey, and white in the mask, which fades out by the square of the distance from that side only', async () => {
    const [image, mask] = (await runNode(imagePadForOutpaint, { ...values, right: 1 })) as [Tensor, Tensor]
    expect(linesOf(image)[0]).toEqual([0, 0, 0, 0, 0, 0.5])
    expect(mask.dims).toEqual([1, 5, 6])
    expect(linesOf(mask)).toEqual(Array.from({ length: 5 }, () => [0, 0, 0, 0, 0.25, 1]))
  })

  it('begins on the near sides with the full mask, for a distance there counts from nought', async () => {
    const [, mask] = (await runNode(imagePadForOutpaint, { ...values, left: 1, top: 1 })) as [Tensor, Tensor]
    expect(linesOf(mask).slice(0, 3)).toEqual([
      [1, 1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1, 1],
      [1, 1, 0.25, 0.25, 0.25, 0.25],
    ])
  })

  it('does not fade when the picture is too small for it', async () => {
    const [, mask] = (await runNode(imagePadForOutpaint, { ...values, left: 1, feathering: 3 })) as [Tensor, Tensor]
    expect(linesOf(mask)[0]).toEqual([1, 0, 0, 0, 0, 0])
  })
})

describe('pictures side by side', () => {
  const [image1, image2] = [filled([1, 1, 2, 3], 0.25), filled([1, 3, 1, 3], 0.75)]
  const values = { image1, image2, match_image_size: false, spacing_width: 0, spacing_color: 'white' }
  /** The red channel. */
  const reds = async (changed: Readonly<Record<string, unknown>>) => {
    const { dims, data } = await firstOf<Tensor>(imageStitch, { ...values, ...changed })
    return linesOf(
      tensor(
        dims.slice(0, 3),
        data.filter((_, i) => i % dims[3]! === 0),
      ),
    )
  }

  it('are the first alone when there is no second', async () => {
    expect(await firstOf(imageStitch, { ...values, image2: undefined, direction: 'up' })).toBe(image1)
  })

  it('stand in the middle of white, or of black', async () => {
    expect(await reds({ direction: 'right' })).toEqual([
      [1, 1, 0.75],
      [0.25, 0.25, 0.75],
      [1, 1, 0.75],
    ])
    expect(await reds({ direction: 'up', spacing_color: 'red' })).toEqual([
      [0.75, 0],
      [0.75, 0],
      [0.75, 0],
      [0.25, 0.25],
    ])
  })

  it('have an even strip of colour between them', async () => {
    const changed = { direction: 'left', image2: image1, spacing_width: 1, spacing_color: 'red' }
    expect(await reds(changed)).toEqual([[0.25, 0.25, 1, 1, 0.25, 0.25]])
    const blue = await firstOf<Tensor>(imageStitch, { ...values, ...changed, spacing_color: 'blue' })
    expect([...blue.data.subarray(6, 12)]).toEqual([0, 0, 1, 0, 0, 1])
  })

  it('take the height or width of the first, and its channels', async () => {
    const dimsOf = async (direction: string, second: Tensor) =>
      (
        await firstOf<Tensor>(imageStitch, {
          ...values,
          image1: picture(10, 20),
          image2: second,
          direction,
          match_image_size: true,
        })
      ).dims
    expect(await dimsOf('right', picture(5, 7))).toEqual([1, 10, 34, 3])
    expect(await dimsOf('down', picture(7, 5, 4))).toEqual([1, 38, 20, 4])
    expect(await dimsOf('up', filled([3, 20, 20, 3], 0))).toEqual([3, 30, 20, 3])
  })
})
