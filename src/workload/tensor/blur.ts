import { type Tensor, tensor } from './tensor.ts'

/**
 * The weights of a Gaussian of deviation `sigma` at `2 · radius + 1` places, evenly spread over -1 to 1 whatever the
 * radius; their sum is 1. ComfyUI's blur and sharpen nodes take this one along each axis.
 */
export function unitGaussian(radius: number, sigma: number): Float32Array {
  const weights = new Float32Array(2 * radius + 1)
  for (let i = 0; i < weights.length; i++) weights[i] = Math.exp(-0.5 * ((i / radius - 1) / sigma) ** 2)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

/**
 * `[N, C, H, W]` convolved with `kernel` (odd length) along both axes; beyond an edge the picture is mirrored in its
 * outermost pixels. Throws a RangeError when the kernel reaches further than the mirror image does.
 */
export function blurred(t: Tensor, kernel: Float32Array): Tensor {
  const [, , height, width] = t.dims as [number, number, number, number]
  const radius = (kernel.length - 1) / 2
  if (radius >= Math.min(height, width))
    throw new RangeError(`a radius of ${radius} is too large for ${width}×${height}: it must be below both sides`)
  const across = new Float32Array(t.data.length)
  for (let line = 0; line < t.data.length; line += width) convolve(t.data, across, line, width, 1, kernel)
  const out = new Float32Array(t.data.length)
  for (let plane = 0; plane < out.length; plane += height * width)
    for (let x = 0; x < width; x++) convolve(across, out, plane + x, height, width, kernel)
  return tensor(t.dims, out)
}

/** One line of `length` values, `stride` apart from `start` on. */
function convolve(
  from: Float32Array,
  to: Float32Array,
  start: number,
  length: number,
  stride: number,
  kernel: Float32Array,
): void {
  const radius = (kernel.length - 1) / 2
  for (let i = 0; i < length; i++) {
    let sum = 0
    for (let k = 0; k < kernel.length; k++) {
      const at = Math.abs(i + k - radius)
      sum += kernel[k]! * from[start + (at < length ? at : 2 * (length - 1) - at) * stride]!
    }
    to[start + i * stride] = sum
  }
}
