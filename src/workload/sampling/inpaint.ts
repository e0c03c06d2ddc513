import { WorkloadError } from '../base/errors.ts'
import type { GuidanceHook } from '../model/guidance.ts'
import type { ModelSampling } from '../model/ports.ts'
import { resized } from '../tensor/resize.ts'
import { repeatRows } from '../tensor/rows.ts'
import { reshaped, type Tensor, tensor } from '../tensor/tensor.ts'
import type { GuessPair } from './sampler.ts'

/** What a masked run keeps of the picture it began with. */
export interface MaskedRun {
  guess(x: Tensor, sigma: number): Promise<GuessPair>
  readonly model: ModelSampling
  /** The picture, in the network's scale: `[N, C, H, W]`. */
  readonly latent: Tensor
  /** The noise that the kept part is shown to the network under: `[N, C, H, W]`. */
  readonly noise: Tensor
  /** 1 where the picture may change: `[N, C, H, W]`. */
  readonly mask: Tensor
  /** Changes the mask from step to step. */
  readonly maskHook: GuidanceHook | undefined
  readonly sigmas: Float32Array
}

/**
 * Guesses that change the picture only where the mask is 1: elsewhere the network sees the picture under noise of
 * the level at hand, and the guess is replaced by the picture. The negative's guess stays as it is.
 */
export function createMaskedGuess(run: MaskedRun): MaskedRun['guess'] {
  const { guess, model, latent, noise, maskHook, sigmas } = run
  return async (x, sigma) => {
    if (x.data.length !== latent.data.length)
      throw new WorkloadError('execution-failed', 'a noise mask needs latents that keep their size')
    const mask = maskHook?.mask?.(run.mask, { sigma, sigmas, sampling: model }) ?? run.mask
    const kept = model.addNoise(sigma, noise, latent, false)
    const { denoised, negative } = await guess(blended(kept, x, mask), sigma)
    return { denoised: blended(latent, denoised, mask), negative }
  }
}

/** A mask of any size as `[N, 1, H, W]`: scaled bilinearly to the latents' size. */
export function sizedMask(mask: Tensor, dims: readonly number[]): Tensor {
  const [rows, , height, width] = dims as [number, number, number, number]
  const [maskHeight, maskWidth] = mask.dims.slice(-2) as [number, number]
  const planes = reshaped(mask, [mask.data.length / (maskHeight * maskWidth), 1, maskHeight, maskWidth])
  return repeatRows(resized(planes, width, height, 'bilinear', 'disabled'), rows)
}

/** `[N, 1, H, W]` as one value for each of `[N, C, H, W]`, the same for every channel. */
export function maskFor({ data }: Tensor, dims: readonly number[]): Tensor {
  const [rows, channels, height, width] = dims as [number, number, number, number]
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
