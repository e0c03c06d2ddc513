import { toBytes } from '../tensor/bytes.ts'
import { takeRows } from '../tensor/rows.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { openSharp } from './sharp.ts'

/** 8-bit pixels, row by row, channels together: what encoders take. */
export interface RawImage {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: 1 | 2 | 3 | 4
}

/** Picture `row` of `[N, H, W, C]`, 0 to 1, as bytes; cut off, not rounded, as the reference saves them. */
export function rawImage(pixels: Tensor, row: number): RawImage {
  const [, height = 0, width = 0, channels = 0] = pixels.dims
  if (channels !== 1 && channels !== 2 && channels !== 3 && channels !== 4)
    throw new RangeError(`an image has 1 to 4 channels, not ${channels}`)
  return { data: toBytes(takeRows(pixels, row, row + 1).data), width, height, channels }
}

/** A sharp pipeline that begins with `image`. */
export async function pipelineOf({ data, width, height, channels }: RawImage) {
  const sharp = await openSharp()
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false })
}
