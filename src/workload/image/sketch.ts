import type { Tensor } from '../tensor/tensor.ts'
import type { RawImage } from './pixels.ts'

/** More cells along a side are not shown: a preview is no larger on the screen than twice this. */
const MOST_CELLS = 256

type Colour = readonly [red: number, green: number, blue: number]

/**
 * The first of `latents` `[N, C, H, W]` as a picture of a pixel a cell: each channel adds its factor to the cell's
 * colour, -1 to 1, as ComfyUI's Latent2RGB does. Of large latents only every second, third … cell is taken.
 */
export function sketchOf(
  { dims, data }: Tensor,
  { factors, bias = [0, 0, 0] }: { readonly factors: readonly Colour[]; readonly bias?: Colour },
): RawImage {
  const [, , cellsDown = 0, cellsAcross = 0] = dims
  const stride = Math.max(1, Math.ceil(Math.max(cellsDown, cellsAcross) / MOST_CELLS))
  const [height, width] = [Math.ceil(cellsDown / stride), Math.ceil(cellsAcross / stride)]
  const area = cellsDown * cellsAcross
  const pixels = new Uint8Array(height * width * 3)
  let at = 0
  for (let y = 0; y < cellsDown; y += stride) {
    for (let x = 0; x < cellsAcross; x += stride) {
      let [red, green, blue] = bias
      for (let channel = 0; channel < factors.length; channel++) {
        const value = data[channel * area + y * cellsAcross + x]!
        const [r, g, b] = factors[channel]!
        red += value * r
        green += value * g
        blue += value * b
      }
      pixels[at++] = byteOf(red)
      pixels[at++] = byteOf(green)
      pixels[at++] = byteOf(blue)
    }
  }
  return { data: pixels, width, height, channels: 3 }
}

/** -1 to 1 → 0 to 255, cut off, not rounded, as ComfyUI does. */
const byteOf = (value: number): number => Math.min(1, Math.max(0, (value + 1) / 2)) * 255
