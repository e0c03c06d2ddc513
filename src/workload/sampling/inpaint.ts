import type { ModelSampling } from '../model/ports.ts'
import { resized } from '../tensor/resize.ts'
import { repeatRows } from '../tensor/rows.ts'
import { reshaped, type Tensor, tensor } from '../tensor/tensor.ts'
import type { Denoiser } from './sampler.ts'

/** What a masked run keeps of the picture it began with. */
export interface MaskedRun {
  readonly denoise: Denoiser
  readonly model: ModelSampling
  /** The picture, in the network's scale: `[N, C, H, W]`. */
  readonly latent: Tensor
  /** The noise that the kept part is shown to the network under: `[N, C, H, W]`. */
  readonly noise: Tensor
  /** 1 where the picture may change: `[N, C, H, W]`. */
  readonly mask: Tensor
}

/**
 * A denoiser that changes the picture only where the mask is 1: elsewhere the network sees the picture under noise of
 * the level at hand, and its guess is replaced by the picture.
 */
export function createMaskedDenoiser({ denoise, model, latent, noise, mask }: MaskedRun): Denoiser {
  return async (x, sigma) => {
    const kept = model.addNoise(sigma, noise, latent, false)
    return blended(latent, await denoise(blended(kept, x, mask), sigma), mask)
  }
}

/** A mask of any size as one value for each of `[N, C, H, W]`: scaled bilinearly, the same for every channel. */
export function maskFor(mask: Tensor, dims: readonly number[]): Tensor {
  const [rows, channels, height, width] = dims as [number, number, number, number]
  const [maskHeight, maskWidth] = mask.dims.slice(-2) as [number, number]
  const planes = reshaped(mask, [mask.data.length / (maskHeight * maskWidth), 1, maskHeight, maskWidth])
  const { data } = repeatRows(resized(planes, width, height, 'bilinear', 'disabled'), rows)
  const area = height * width
  const spread = new Float32Array(rows * channels * area)
  for (let plane = 0; plane < rows * channels; plane++) {
    const row = Math.floor(plane / channels)
    spread.set(data.subarray(row * area, (row + 1) * area), plane * area)
  }
  return tensor(dims, spread)
}

/** `a` where the mask is 0, `b` where it is 1, in between both. */
function blended(a: Tensor, b: Tensor, mask: Tensor): Tensor {
  const out = new Float32Array(a.data.length)
  for (let i = 0; i < out.length; i++) out[i] = a.data[i]! * (1 - mask.data[i]!) + b.data[i]! * mask.data[i]!
  return tensor(a.dims, out)
}
