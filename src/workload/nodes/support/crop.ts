import { type Tensor, tensor } from '../../tensor/tensor.ts'

/** Cuts `[N, H, W, …]` to sides that are multiples of `cell`, half of what is left over off each side. */
export function croppedToCells(t: Tensor, cell: number): Tensor {
  const [rows = 0, height = 0, width = 0, ...rest] = t.dims
  const [h, w] = [height - (height % cell), width - (width % cell)]
  if (h === 0 || w === 0) throw new RangeError(`a picture of ${width}×${height} is smaller than ${cell} pixels`)
  if (h === height && w === width) return t
  const [top, left] = [Math.floor((height % cell) / 2), Math.floor((width % cell) / 2)]
  const depth = rest.reduce((product, dim) => product * dim, 1)
  const out = new Float32Array(rows * h * w * depth)
  for (let row = 0; row < rows; row++) {
    for (let y = 0; y < h; y++) {
      const from = ((row * height + y + top) * width + left) * depth
      out.set(t.data.subarray(from, from + w * depth), (row * h + y) * w * depth)
    }
  }
  return tensor([rows, h, w, ...rest], out)
}
