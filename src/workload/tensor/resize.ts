import { resizedSpherically } from './resize-bislerp.ts'
import { resizedLikePillow } from './resize-lanczos.ts'
import { resizedSeparably } from './resize-separable.ts'
import { roundHalfEven } from './round.ts'
import { type Tensor, tensor } from './tensor.ts'

/** ComfyUI's `upscale_method` names. `bislerp` is meant for latents, `lanczos` for images. */
export type ResizeMethod = 'nearest-exact' | 'bilinear' | 'area' | 'bicubic' | 'bislerp' | 'lanczos'

/**
 * `[N, C, H, W]` → `[N, C, height, width]` with the kernels of ComfyUI's `common_upscale`; crop `center` first cuts the
 * longer side so that the aspect is that of the result, any other word cuts nothing. Throws a RangeError for a side
 * below one pixel.
 */
export function resized(t: Tensor, width: number, height: number, method: ResizeMethod, crop: string): Tensor {
  if (width < 1 || height < 1) throw new RangeError(`cannot resize to ${width}×${height}: a side must be 1 or more`)
  const source = crop === 'center' ? croppedToAspect(t, width / height) : t
  if (method === 'bislerp') return resizedSpherically(source, width, height)
  if (method === 'lanczos') return resizedLikePillow(source, width, height)
  return resizedSeparably(source, width, height, method)
}

/** `[N, C, H, W]` cut by the same amount on both sides until width / height is about `aspect`. */
function croppedToAspect(t: Tensor, aspect: number): Tensor {
  const [, , height, width] = t.dims as [number, number, number, number]
  const own = width / height
  const x = own > aspect ? roundHalfEven((width - width * (aspect / own)) / 2) : 0
  const y = own < aspect ? roundHalfEven((height - height * (own / aspect)) / 2) : 0
  return x === 0 && y === 0 ? t : cut(t, x, y, width - 2 * x, height - 2 * y)
}

/** The rectangle of every plane of `[N, C, H, W]` that begins at column `x` and row `y`. */
function cut(t: Tensor, x: number, y: number, width: number, height: number): Tensor {
  const [rows, channels, fullHeight, fullWidth] = t.dims as [number, number, number, number]
  const data = new Float32Array(rows * channels * width * height)
  let to = 0
  for (let plane = 0; plane < rows * channels; plane++) {
    for (let row = y; row < y + height; row++, to += width) {
      const from = (plane * fullHeight + row) * fullWidth + x
      data.set(t.data.subarray(from, from + width), to)
    }
  }
  return tensor([rows, channels, height, width], data)
}
