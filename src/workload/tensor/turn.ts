import { flippedAlong } from './axes.ts'
import { type Tensor, tensor } from './tensor.ts'

/** The planes that `axis` and the one behind it span, turned clockwise by quarters (torch's `rot90` from the second to the first). */
export function turned(t: Tensor, axis: number, quarters: number): Tensor {
  switch (quarters % 4) {
    case 1:
      return swapped(flippedAlong(t, axis), axis)
    case 2:
      return flippedAlong(flippedAlong(t, axis), axis + 1)
    case 3:
      return swapped(flippedAlong(t, axis + 1), axis)
    default:
      return t
  }
}

/** `axis` and the one behind it in each other's place. */
function swapped({ dims, data }: Tensor, axis: number): Tensor {
  const [height, width] = [dims[axis]!, dims[axis + 1]!]
  const inner = dims.slice(axis + 2).reduce((product, dim) => product * dim, 1)
  const out = new Float32Array(data.length)
  for (let plane = 0; plane < data.length; plane += height * width * inner)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const from = plane + (y * width + x) * inner
        out.set(data.subarray(from, from + inner), plane + (x * height + y) * inner)
      }
  return tensor([...dims.slice(0, axis), width, height, ...dims.slice(axis + 2)], out)
}
