import { mapped, type Tensor, zeros } from '../../tensor/tensor.ts'
import { shapeOf } from './picture.ts'

/** A mask `[N, H, W]` as a grey picture `[N, H, W, 3]`. */
export function greyOf(mask: Tensor): Tensor {
  const { rows, height, width } = shapeOf(mask)
  return mapped(zeros([rows, height, width, 3]), (_, i) => mask.data[Math.floor(i / 3)]!)
}
