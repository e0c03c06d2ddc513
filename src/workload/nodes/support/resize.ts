import { channelsFirst, channelsLast } from '../../tensor/channels.ts'
import { type ResizeMethod, resized } from '../../tensor/resize.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** What nodes that resize pictures offer, in ComfyUI's order. */
export const IMAGE_METHODS = ['nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos'] as const

/** What nodes that resize latents offer, in ComfyUI's order. */
export const LATENT_METHODS = ['nearest-exact', 'bilinear', 'area', 'bicubic', 'bislerp'] as const

export const CROPS = ['disabled', 'center'] as const

/** `[N, H, W, C]` → `[N, height, width, C]` */
export function resizedImage(image: Tensor, width: number, height: number, method: ResizeMethod, crop: string): Tensor {
  return channelsLast(resized(channelsFirst(image), width, height, method, crop))
}
