import { describe, expect, it } from 'vitest'
import type { Latent } from '../../../src/workload/model/ports.ts'
import emptySd3LatentImage from '../../../src/workload/nodes/empty-sd3-latent-image.ts'
import latentBatch from '../../../src/workload/nodes/latent-batch.ts'
import latentBatchSeedBehavior from '../../../src/workload/nodes/latent-batch-seed-behavior.ts'
import latentComposite from '../../../src/workload/nodes/latent-composite.ts'
import latentCompositeMasked from '../../../src/workload/nodes/latent-composite-masked.ts'
import latentFromBatch from '../../../src/workload/nodes/latent-from-batch.ts'
import rebatchImages from '../../../src/workload/nodes/rebatch-images.ts'
import rebatchLatents from '../../../src/workload/nodes/rebatch-latents.ts'
import repeatLatentBatch from '../../../src/workload/nodes/repeat-latent-batch.ts'
import { filled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf } from '../../support/node-room.ts'

const latentOf = (node: AnyNode, values: Readonly<Record<string, unknown>>) => firstOf<Latent>(node, values)
/** 0, 1, 2 … */
const counting = (...dims: readonly number[]) => mapped(zeros(dims), (_, i) => i)
const of = (dims: readonly number[], ...values: readonly number[]) => tensor(dims, Float32Array.from(values))
const numbers = ({ samples }: Latent) => [...samples.data]

describe('empty latents', () => {
  it('of 16 channels are an eighth as large as the picture', async () => {
    const { samples } = await latentOf(emptySd3LatentImage, { width: 64, height: 48, batch_size: 2 })
    expect(samples).toEqual(zeros([2, 16, 6, 8]))
  })
})

describe('LatentComposite', () => {
  const lower = { samples: filled([2, 1, 3, 4], 1), batchIndex: [4, 5] }
  const upper = { samples: filled([1, 1, 2, 3], 3) }
  const composite = (values: object) =>
    latentOf(latentComposite, { samples_to: lower, samples_from: upper, x: 0, y: 0, feather: 0, ...values })

  it('lays latents over every row and cuts what lies beyond the edge', async () => {
    const result = await composite({ x: 16, y: 15 })
    expect(numbers(result)).toEqual([...[1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 3, 3], ...[1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 3, 3]])
    expect(result.batchIndex).toEqual([4, 5])
  })

  it('softens the edges inside the picture alone', async () => {
    // x: left edge inside, right edge at the border: shares ½, 1, 1; y: upper edge at the border, lower inside: 1, ½.
    const result = await composite({ x: 8, feather: 16 })
    expect(numbers(result).slice(0, 12)).toEqual([...[1, 2, 3, 3], ...[1, 1.5, 2, 2], ...[1, 1, 1, 1]])
  })

  it('lays nothing where there is no room left', async () => {
    expect(numbers(await composite({ x: 400 }))).toEqual(numbers(lower))
  })

  it('refuses latents of another kind', async () => {
    await expect(composite({ samples_from: { samples: zeros([1, 4, 2, 2]) } })).rejects.toThrow('channels are 1 and 4')
    await expect(composite({ samples_from: { samples: zeros([3, 1, 2, 2]) } })).rejects.toThrow('batches are 2 and 3')
  })
})

describe('LatentCompositeMasked', () => {
  const destination = { samples: counting(1, 1, 3, 4) }
  const source = { samples: filled([1, 1, 2, 2], 100) }
  const composite = (values: object) =>
    latentOf(latentCompositeMasked, { destination, source, x: 0, y: 0, resize_source: false, ...values })

  it('covers what lies under the picture', async () => {
    expect(numbers(await composite({ x: 24, y: 8 }))).toEqual([0, 1, 2, 3, 4, 5, 6, 100, 8, 9, 10, 100])
    expect(numbers(await composite({ x: 32, y: 8 }))).toEqual(numbers(destination))
    expect(numbers(await composite({ resize_source: true }))).toEqual(Array.from({ length: 12 }, () => 100))
  })

  it('mixes by a mask of any size', async () => {
    const half = await composite({ mask: of([1, 1, 2], 0.25, 1) })
    expect(numbers(half).slice(0, 6)).toEqual([25, 100, 2, 3, 4 * 0.75 + 25, 100])
    // 4 × 1 pixels become 2 × 2 cells, each the mean of two.
    const wide = await composite({ mask: of([1, 4], 0, 1, 1, 0) })
    expect(numbers(wide).slice(0, 2)).toEqual([50, 50.5])
  })

  it('repeats pictures and masks to the batch below', async () => {
    const result = await composite({
      destination: { samples: zeros([3, 1, 1, 1]) },
      source: { samples: of([2, 1, 1, 1], 10, 20) },
      mask: of([2, 1, 1], 1, 0.25),
    })
    expect(numbers(result)).toEqual([10, 5, 10])
  })

  it('takes a corner beyond the left edge as upstream does: only where slices agree', async () => {
    expect(numbers(await composite({ x: -8 }))).toEqual(numbers(destination))
    const wide = { samples: zeros([1, 1, 3, 12]) }
    await expect(composite({ destination: wide, x: -8 })).rejects.toThrow('cannot be laid at -8')
  })
})

describe('batches of latents', () => {
  const samples = counting(3, 1, 1, 2)
  const noiseMask = counting(3, 1, 1, 1)

  it('give some of their rows, each with its noise and mask', async () => {
    const take = (latent: Latent, batch_index: number, length: number) =>
      latentOf(latentFromBatch, { samples: latent, batch_index, length })
    expect(await take({ samples }, 1, 5)).toEqual({ samples: of([2, 1, 1, 2], 2, 3, 4, 5), batchIndex: [1, 2] })
    expect(await take({ samples, batchIndex: [7, 8, 9], noiseMask }, 60, 1)).toEqual({
      samples: of([1, 1, 1, 2], 4, 5),
      batchIndex: [9],
      noiseMask: of([1, 1, 1, 1], 2),
    })
    const one = filled([1, 1, 4, 4], 0.5)
    expect((await take({ samples, noiseMask: one }, 1, 1)).noiseMask).toBe(one)
    const two = of([2, 1, 1, 1], 3, 4)
    expect((await take({ samples, noiseMask: two }, 2, 1)).noiseMask).toEqual(of([1, 1, 1, 1], 3))
  })

  it('are repeated as a whole, every time with other noise', async () => {
    const repeat = (latent: Latent, amount: number) => latentOf(repeatLatentBatch, { samples: latent, amount })
    const twice = await repeat({ samples, noiseMask, batchIndex: [2, 5, 3] }, 2)
    expect(numbers(twice)).toEqual([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
    expect(twice.batchIndex).toEqual([2, 5, 3, 6, 9, 7])
    expect([...twice.noiseMask!.data]).toEqual([0, 1, 2, 0, 1, 2])
    const plain = await repeat({ samples, noiseMask: filled([1, 1, 2, 2], 1) }, 3)
    expect(plain).not.toHaveProperty('batchIndex')
    expect(plain.noiseMask!.dims).toEqual([1, 1, 2, 2])
  })

  it('are joined in the size of the first, with the noise each had', async () => {
    const second = { samples: of([1, 1, 2, 4], 0, 1, 3, 0, 0, 1, 3, 0) }
    const joined = await latentOf(latentBatch, { samples1: { samples, noiseMask }, samples2: second })
    // 4 × 2 cells are as wide as 2 × 1 are: halved without a cut, the mean of each four.
    const halved = { samples: of([4, 1, 1, 2], 0, 1, 2, 3, 4, 5, 0.5, 1.5), noiseMask, batchIndex: [0, 1, 2, 0] }
    expect(joined).toEqual(halved)
    const again = await latentOf(latentBatch, { samples1: joined, samples2: { ...second, batchIndex: [9] } })
    expect(again.batchIndex).toEqual([0, 1, 2, 0, 9])
  })

  it('may all take the same noise', async () => {
    const behave = (latent: Latent, seed_behavior: string) =>
      latentOf(latentBatchSeedBehavior, { samples: latent, seed_behavior })
    expect((await behave({ samples }, 'fixed')).batchIndex).toEqual([0, 0, 0])
    expect((await behave({ samples, batchIndex: [4, 5, 6] }, 'fixed')).batchIndex).toEqual([4, 4, 4])
    expect(await behave({ samples, batchIndex: [4, 5, 6] }, 'random')).toEqual({ samples })
  })
})

describe('RebatchLatents', () => {
  const rebatch = (latents: readonly Latent[], size: number) =>
    firstOf<readonly Latent[]>(rebatchLatents, { latents, batch_size: [size] })

  it('numbers the rows of all batches through and keeps what is left over', async () => {
    const named = { samples: of([1, 1, 1, 1], 9), batchIndex: [40] }
    const groups = await rebatch([{ samples: counting(3, 1, 1, 1) }, named, { samples: of([1, 1, 1, 1], 7) }], 2)
    expect(groups).toEqual([
      { samples: of([2, 1, 1, 1], 0, 1), batchIndex: [0, 1] },
      { samples: of([2, 1, 1, 1], 2, 9), batchIndex: [2, 40] },
      { samples: of([1, 1, 1, 1], 7), batchIndex: [4] },
    ])
  })

  it('begins a new batch at every change of size', async () => {
    const groups = await rebatch([{ samples: zeros([1, 4, 2, 2]) }, { samples: zeros([3, 4, 2, 1]) }], 2)
    expect(groups.map(({ samples, batchIndex }) => [samples.dims, batchIndex])).toEqual([
      [[1, 4, 2, 2], [0]],
      [
        [2, 4, 2, 1],
        [1, 2],
      ],
      [[1, 4, 2, 1], [3]],
    ])
  })

  it('gives rows without a mask one that hides nothing, and drops masks that hide nothing', async () => {
    const masked = { samples: zeros([2, 1, 1, 1]), noiseMask: filled([1, 1, 8, 8], 0.5) }
    const groups = await rebatch([{ samples: zeros([3, 1, 1, 1]) }, masked], 2)
    expect(groups[0]).not.toHaveProperty('noiseMask')
    expect(groups[1]!.noiseMask).toEqual(mapped(zeros([2, 1, 8, 8]), (_, i) => (i < 64 ? 1 : 0.5)))
    expect(groups[2]!.noiseMask).toEqual(filled([1, 1, 8, 8], 0.5))
    const small = { samples: zeros([1, 1, 1, 1]), noiseMask: filled([1, 1, 2, 2], 0) }
    await expect(rebatch([masked, small], 3)).rejects.toThrow('noise masks are 1×1×8×8 and 1×1×2×2')
  })
})

describe('RebatchImages', () => {
  const rebatch = (images: readonly Tensor[], size: number) =>
    firstOf<readonly Tensor[]>(rebatchImages, { images, batch_size: [size] })

  it('makes batches of another size', async () => {
    const groups = await rebatch([counting(3, 1, 1, 3), of([1, 1, 1, 3], 20, 21, 22)], 3)
    expect(groups).toEqual([counting(3, 1, 1, 3), of([1, 1, 1, 3], 20, 21, 22)])
  })

  it('refuses to put pictures of several sizes together', async () => {
    const images = [zeros([1, 2, 2, 3]), zeros([1, 2, 4, 3])]
    await expect(rebatch(images, 2)).rejects.toThrow('pictures of 2×2×3 and 2×4×3 cannot share a batch')
    expect((await rebatch(images, 1)).map(({ dims }) => dims[2])).toEqual([2, 4])
  })
})
