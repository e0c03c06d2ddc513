import { describe, expect, it } from 'vitest'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { createVae, type VaeNetworks } from '../../../src/workload/families/support/vae.ts'
import type { Latent } from '../../../src/workload/model/ports.ts'
import vaeDecodeTiled from '../../../src/workload/nodes/vae-decode-tiled.ts'
import vaeEncodeTiled from '../../../src/workload/nodes/vae-encode-tiled.ts'
import { resized } from '../../../src/workload/tensor/resize.ts'
import { rowsOf, takeRows } from '../../../src/workload/tensor/rows.ts'
import { addScaled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { bundledCheckpoint, openCheckpoint } from '../../support/models.ts'
import { firstOf } from '../../support/node-room.ts'

const mean = ({ data }: Tensor) => data.reduce((sum, value) => sum + value, 0) / data.length
const size = (t: Tensor) => mean(mapped(t, Math.abs))
/** How far `a` is from `b` on average, in shares of the size of `b`. */
const distance = (a: Tensor, b: Tensor) => size(addScaled(a, b, -1)) / size(b)

/** Two pixels a cell; every pixel depends on all of its tile, as in a real autoencoder. */
function toyNetworks(limit = Number.POSITIVE_INFINITY): VaeNetworks & { readonly seen: string[] } {
  const seen: string[] = []
  const look = (t: Tensor) => {
    const [, , height = 0, width = 0] = t.dims
    if (height * width > limit) throw new WorkloadError('out-of-memory', 'failed to allocate')
    seen.push(`${width}×${height}`)
    return { height, width }
  }
  return {
    downscale: 2,
    channels: 1,
    seen,
    async decode(latents) {
      const { height, width } = look(latents)
      const large = resized(latents, width * 2, height * 2, 'nearest-exact', 'disabled')
      const shift = mean(latents)
      const decoded = tensor(
        [1, 3, height * 2, width * 2],
        Float32Array.from({ length: 3 * large.data.length }, (_, i) => large.data[i % large.data.length]! + shift),
      )
      const pixels = mapped(zeros([1, height * 2, width * 2, 3]), (_, i) => decoded.data[Math.floor(i / 3)]!)
      return { decoded, pixels }
    },
    async encode(pixels) {
      const { height, width } = look(pixels)
      const small = resized(pixels, width / 2, height / 2, 'area', 'disabled')
      const shift = mean(pixels)
      return tensor(
        [1, 1, height / 2, width / 2],
        small.data.slice(0, small.data.length / 3).map((v) => v + shift),
      )
    },
  }
}

/** Where the tiles of one axis lie, and how much each of `size` · `scale` places of one weighs. */
function tilesAlong(length: number, size: number, overlap: number, scale: number) {
  const tiles: { at: number; size: number }[] = []
  for (let p = 0; length > size ? p < length - overlap : p < 1; p += size - overlap) {
    const at = Math.max(0, Math.min(length - overlap, p))
    tiles.push({ at, size: Math.min(size, length - at) })
  }
  const feather = overlap * scale
  return tiles.map((tile) => {
    const places = tile.size * scale
    const weight = (i: number) =>
      feather >= places ? 1 : Math.min(1, (i + 1) / feather) * Math.min(1, (places - i) / feather)
    return { ...tile, weight }
  })
}

/** One pass, value by value: what `value` gives for each tile that holds the place, weighted. */
function passed(
  { width, height }: { readonly width: number; readonly height: number },
  tile: readonly [width: number, height: number],
  overlap: number,
  scale: number,
  value: (part: { x: number; y: number; width: number; height: number }, at: { x: number; y: number }) => number,
): number[] {
  const [columns, rows] = [tilesAlong(width, tile[0], overlap, scale), tilesAlong(height, tile[1], overlap, scale)]
  const values: number[] = []
  for (let y = 0; y < height * scale; y++)
    for (let x = 0; x < width * scale; x++) {
      let [sum, weights] = [0, 0]
      for (const row of rows)
        for (const column of columns) {
          const [i, j] = [y - row.at * scale, x - column.at * scale]
          if (i < 0 || j < 0 || i >= row.size * scale || j >= column.size * scale) continue
          const weight = row.weight(i) * column.weight(j)
          sum += weight * value({ x: column.at, y: row.at, width: column.size, height: row.size }, { x, y })
          weights += weight
        }
      values.push(sum / weights)
    }
  return values
}

const latents = mapped(zeros([1, 1, 6, 10]), (_, i) => 0.8 * Math.sin(1.7 * i))
const pixels = mapped(zeros([1, 12, 20, 3]), (_, i) => 0.5 + 0.5 * Math.sin(0.9 * i))

describe('an autoencoder in tiles', () => {
  it('decodes the average of three passes and only then cuts off', async () => {
    const at = (x: number, y: number) => latents.data[y * 10 + x]!
    const decoded = (
      part: { x: number; y: number; width: number; height: number },
      { x, y }: { x: number; y: number },
    ) => {
      let sum = 0
      for (let i = 0; i < part.height; i++) for (let j = 0; j < part.width; j++) sum += at(part.x + j, part.y + i)
      return at(Math.floor(x / 2), Math.floor(y / 2)) + sum / (part.width * part.height)
    }
    const passes = (
      [
        [2, 8],
        [8, 2],
        [4, 4],
      ] as const
    ).map((tile) => passed({ width: 10, height: 6 }, tile, 1, 2, decoded))
    const result = await createVae(toyNetworks()).decode(latents, { size: 8, overlap: 3 })
    expect(result.dims).toEqual([1, 12, 20, 3])
    for (let i = 0; i < 240; i++) {
      const average = passes.reduce((sum, pass) => sum + pass[i]!, 0) / 3
      expect(result.data[i * 3 + 1]).toBeCloseTo(Math.min(1, Math.max(0, (average + 1) / 2)), 5)
    }
  })

  it('encodes the average of three passes', async () => {
    const at = (x: number, y: number, c: number) => pixels.data[(y * 20 + x) * 3 + c]! * 2 - 1
    const encoded = (
      part: { x: number; y: number; width: number; height: number },
      { x, y }: { x: number; y: number },
    ) => {
      let sum = 0
      for (let i = 0; i < part.height; i++)
        for (let j = 0; j < part.width; j++) for (let c = 0; c < 3; c++) sum += at(part.x + j, part.y + i, c)
      const own = at(2 * x, 2 * y, 0) + at(2 * x + 1, 2 * y, 0) + at(2 * x, 2 * y + 1, 0) + at(2 * x + 1, 2 * y + 1, 0)
      return own / 4 + sum / (part.width * part.height * 3)
    }
    // The same in pixels of two: a tile of 8 is one of 4 cells that give one value each.
    const inCells = (part: { x: number; y: number; width: number; height: number }, to: { x: number; y: number }) =>
      encoded({ x: part.x * 2, y: part.y * 2, width: part.width * 2, height: part.height * 2 }, to)
    const passes = (
      [
        [4, 4],
        [8, 2],
        [2, 8],
      ] as const
    ).map((tile) => passed({ width: 10, height: 6 }, tile, 1, 1, inCells))
    const result = await createVae(toyNetworks()).encode(pixels, { size: 8, overlap: 2 })
    expect(result.dims).toEqual([1, 1, 6, 10])
    for (const [i, value] of result.data.entries())
      expect(value).toBeCloseTo(passes.reduce((sum, pass) => sum + pass[i]!, 0) / 3, 5)
  })

  it('takes each picture of a batch by itself', async () => {
    const vae = createVae(toyNetworks())
    const batch = tensor([2, 1, 6, 5], latents.data)
    const both = await vae.decode(batch, { size: 8, overlap: 2 })
    expect(rowsOf(both)).toBe(2)
    const second = await vae.decode(takeRows(batch, 1, 2), { size: 8, overlap: 2 })
    expect(takeRows(both, 1, 2)).toEqual(second)
  })

  it('steps in when there is no memory for the whole', async () => {
    const wide = mapped(zeros([1, 1, 4, 600]), (_, i) => Math.sin(i) / 3)
    const small = toyNetworks(4 * 512)
    const result = await createVae(small).decode(wide)
    expect(small.seen).toContain('128×4')
    const whole = await createVae(toyNetworks()).decode(wide, { size: 512, overlap: 128 })
    expect(result).toEqual(whole)
    await expect(createVae(toyNetworks(2)).decode(wide)).rejects.toMatchObject({ code: 'out-of-memory' })
    const picture = mapped(zeros([1, 8, 1200, 3]), (_, i) => Math.sin(i) / 2 + 0.5)
    const encoded = await createVae(toyNetworks(8 * 1024)).encode(picture)
    expect(encoded).toEqual(await createVae(toyNetworks()).encode(picture, { size: 512, overlap: 64 }))
  })

  it('agrees with the whole picture as far as the network sees', async () => {
    const { vae } = await openCheckpoint(bundledCheckpoint)
    const picture = mapped(
      zeros([1, 96, 160, 3]),
      (_, i) => 0.5 + 0.4 * Math.sin(i / 480 / 9) * Math.cos((i % 480) / 60),
    )
    const whole = await vae!.encode(picture)
    const tiles = { size: 64, overlap: 16 }
    const encodedTiled = await firstOf<Latent>(vaeEncodeTiled, { pixels: picture, vae, tile_size: 64, overlap: 16 })
    expect(encodedTiled.samples).toEqual(await vae!.encode(picture, tiles))
    expect(distance(encodedTiled.samples, whole)).toBeLessThan(0.2)
    const values = { samples: { samples: whole }, vae, tile_size: 64, overlap: 64 }
    const decodedTiled = await firstOf<Tensor>(vaeDecodeTiled, values)
    expect(decodedTiled).toEqual(await vae!.decode(whole, tiles)) // overlaps beyond a quarter are cut to that
    expect(distance(decodedTiled, await vae!.decode(whole))).toBeLessThan(0.1)
  })
})
