import { repeatRows, rowsOf } from '../../tensor/rows.ts'
import { mapped, type Tensor } from '../../tensor/tensor.ts'

/** Pixels `[N, H, W, C]` where `mask` `[M, H, W]` is 0, mid-grey where it is 1. */
export function greyed(pixels: Tensor, mask: Tensor): Tensor {
  const channels = pixels.dims[3]!
  const { data } = repeatRows(mask, rowsOf(pixels))
  return mapped(pixels, (value, i) => (value - 0.5) * (1 - data[Math.floor(i / channels)]!) + 0.5)
}
