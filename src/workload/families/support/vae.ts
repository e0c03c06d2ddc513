import { WorkloadError } from '../../base/errors.ts'
import type { Tiles, Vae } from '../../model/ports.ts'
import { channelsFirst, channelsLast } from '../../tensor/channels.ts'
import { rowsOf, stackRows, takeRows } from '../../tensor/rows.ts'
import { combined, mapped, scaled, type Tensor, tensor } from '../../tensor/tensor.ts'
import { type Tiling, tiledScale } from '../../tensor/tiled-scale.ts'

/** The networks of an autoencoder, for one picture at a time. */
export interface VaeNetworks {
  /** Pixels a latent cell, along each side. */
  readonly downscale: number
  readonly channels: number
  /** `[1, C, h, w]` → `decoded` `[1, 3, H, W]`, about -1 to 1, and `pixels` as `toPixels` makes them of it. */
  decode(latents: Tensor): Promise<{ readonly decoded: Tensor; readonly pixels: Tensor }>
  /** `[1, 3, H, W]`, -1 to 1 → the mean latents `[1, C, h, w]` */
  encode(pixels: Tensor): Promise<Tensor>
}

/** The tiles, in pixels, that a picture goes through when there is no memory for the whole. */
const FALLBACK = { decode: { size: 512, overlap: 128 }, encode: { size: 512, overlap: 64 } } as const

/**
 * An autoencoder of `networks`. Pictures go through one by one: at their size a batch costs memory and gains nothing.
 * Tiled, a picture is the average of three passes, with square, with wide and with tall tiles, so that no seam of one
 * shows. What finds no memory in one piece is tried in tiles.
 */
export function createVae({ downscale, channels, decode, encode }: VaeNetworks): Vae {
  const decodeWhole = (latents: Tensor) => rowByRow(latents, async (row) => (await decode(row)).pixels)
  const decodeTiled = async (latents: Tensor, { size, overlap }: Tiles) => {
    const [tile, shared] = [Math.floor(size / downscale), Math.floor(overlap / downscale)]
    const pass = (width: number, height: number) =>
      tiledScale(latents, tiling(width, height, shared, downscale, 3), async (part) => (await decode(part)).decoded)
    const half = Math.floor(tile / 2)
    return toPixels(mean([await pass(half, tile * 2), await pass(tile * 2, half), await pass(tile, tile)]))
  }
  const encodeWhole = (images: Tensor) => rowByRow(images, encode)
  const encodeTiled = async (images: Tensor, { size, overlap }: Tiles) => {
    const pass = (width: number, height: number) =>
      tiledScale(images, tiling(width, height, overlap, 1 / downscale, channels), encode)
    const half = Math.floor(size / 2)
    return mean([await pass(size, size), await pass(size * 2, half), await pass(half, size * 2)])
  }
  return {
    downscale,
    channels,
    decode: (latents, tiles) =>
      tiles
        ? decodeTiled(latents, tiles)
        : orElse(
            () => decodeWhole(latents),
            () => decodeTiled(latents, FALLBACK.decode),
          ),
    encode(pixels, tiles) {
      const images = mapped(channelsFirst(opaque(pixels)), (value) => value * 2 - 1)
      if (tiles) return encodeTiled(images, tiles)
      return orElse(
        () => encodeWhole(images),
        () => encodeTiled(images, FALLBACK.encode),
      )
    },
  }
}

/** `[N, 3, H, W]`, about -1 to 1 → `[N, H, W, 3]`, 0 to 1 and cut off there. */
export function toPixels(decoded: Tensor): Tensor {
  return channelsLast(mapped(decoded, (value) => Math.min(1, Math.max(0, (value + 1) / 2))))
}

const tiling = (width: number, height: number, overlap: number, scale: number, channels: number): Tiling => ({
  tile: { width, height },
  overlap,
  scale,
  channels,
})

const mean = (passes: readonly Tensor[]): Tensor =>
  scaled(combined(...passes.map((pass) => [1, pass] as const)), 1 / passes.length)

/** `first`, or `second` when that finds no memory. */
async function orElse(first: () => Promise<Tensor>, second: () => Promise<Tensor>): Promise<Tensor> {
  try {
    return await first()
  } catch (error) {
    if (error instanceof WorkloadError && error.code === 'out-of-memory') return second()
    throw error
  }
}

async function rowByRow(t: Tensor, work: (row: Tensor) => Promise<Tensor>): Promise<Tensor> {
  const results: Tensor[] = []
  for (let row = 0; row < rowsOf(t); row++) results.push(await work(takeRows(t, row, row + 1)))
  return stackRows(results, results.length)
}

/** `[N, H, W, C]` without the channels beyond the third. */
function opaque(pixels: Tensor): Tensor {
  const channels = pixels.dims[3]!
  if (channels === 3) return pixels
  const data = new Float32Array((pixels.data.length / channels) * 3)
  for (let i = 0; i < data.length; i++) data[i] = pixels.data[Math.floor(i / 3) * channels + (i % 3)]!
  return tensor([...pixels.dims.slice(0, 3), 3], data)
}
