import { reshaped, type Tensor } from '../../tensor/tensor.ts'

/** A mask `[N, H, W]` or `[H, W]` as planes of one channel `[N, 1, H, W]`, as resizing and latents take them. */
export function withChannel(mask: Tensor): Tensor {
  const [height = 0, width = 0] = mask.dims.slice(-2)
  return reshaped(mask, [mask.data.length / (height * width), 1, height, width])
}
