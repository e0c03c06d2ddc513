import type { Latent } from '../../model/ports.ts'
import { resized } from '../../tensor/resize.ts'
import { repeatRows, rowsOf } from '../../tensor/rows.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'

/** Pixels a latent cell along each side, as nodes that take sizes in pixels count them. */
export const CELL = 8

/** Latents `[N, C, H, W]` in the height and width of `like`: bilinear, with the middle cut out where the aspect differs. */
export function sizedLike(latents: Tensor, like: Tensor): Tensor {
  if (latents.dims.slice(1).join() === like.dims.slice(1).join()) return latents
  const [, , height = 0, width = 0] = like.dims
  return resized(latents, width, height, 'bilinear', 'center')
}

/** Latents in the size of `like` and cut or repeated to its rows. Throws when the channels differ. */
export function shapedLike(latents: Tensor, like: Tensor): Tensor {
  requireEqual('channels', latents.dims[1], like.dims[1])
  return repeatRows(sizedLike(latents, like), rowsOf(like))
}

/** Throws unless the two latents of a node agree in `what`. */
export function requireEqual(what: string, a: number | string | undefined, b: number | string | undefined): void {
  if (a !== b) throw new Error(`these latents cannot be put together: their ${what} are ${a} and ${b}`)
}

/** Which rows of a seed's noise the rows take: as the latents say, otherwise the first ones in their order. */
export function batchIndexOf({ samples, batchIndex }: Latent): readonly number[] {
  return batchIndex ?? Array.from({ length: rowsOf(samples) }, (_, row) => row)
}

/** The axis of `[N, C, H, W]` that upstream calls so; `t` is the one before the height. */
export const axisOf = (dim: 'x' | 'y' | 't'): number => ({ x: 3, y: 2, t: 1 })[dim]

/** `[N, C, H, W]` → `[N, H, W]`: the Euclidean norm over the channels. */
export function magnitudes(latents: Tensor): Tensor {
  const [rows, channels, height, width] = latents.dims as [number, number, number, number]
  const area = height * width
  const sizes = new Float32Array(rows * area)
  for (let i = 0; i < sizes.length; i++) {
    const first = Math.floor(i / area) * channels * area + (i % area)
    let sum = 0
    for (let c = 0; c < channels; c++) sum += latents.data[first + c * area]! ** 2
    sizes[i] = Math.sqrt(sum)
  }
  return tensor([rows, height, width], sizes)
}
