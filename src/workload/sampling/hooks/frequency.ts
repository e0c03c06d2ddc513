import type { GuidanceHook } from '../../model/guidance.ts'
import { combined, sizeOf, type Tensor, tensor } from '../../tensor/tensor.ts'

/** How frequencies of the guidance are scaled. */
export interface FrequencyScales {
  readonly low: number
  readonly high: number
  /** How many frequencies along each side, from nought on, count as low. */
  readonly cutoff: number
}

/** Guidance with its coarse and its fine structure scaled apart (Huang et al. 2025, FreSca). */
export function frequencyScaledGuidance({ low, high, cutoff }: FrequencyScales): GuidanceHook {
  return {
    before(guesses) {
      const { positive, negative } = guesses
      if (!negative) return guesses
      const guidance = combined([1, positive], [-1, negative])
      const coarse = lowFrequencies(guidance, cutoff)
      return { ...guesses, positive: combined([1, negative], [high, guidance], [low - high, coarse]) }
    },
  }
}

/**
 * The real part of `[N, C, H, W]` rebuilt from the frequencies -m … m-1 along each side, m the cutoff but at most half
 * the side. A projection along each side is a complex matrix: the real part of both is a difference of two products.
 */
function lowFrequencies(t: Tensor, cutoff: number): Tensor {
  const [height, width] = t.dims.slice(-2) as [number, number]
  const [down, across] = [projection(height, cutoff), projection(width, cutoff)]
  const planes = sizeOf(t.dims) / (height * width)
  const out = new Float32Array(t.data.length)
  const [real, imaginary] = [new Float64Array(height * width), new Float64Array(height * width)]
  for (let plane = 0; plane < planes; plane++) {
    const values = t.data.subarray(plane * height * width, (plane + 1) * height * width)
    real.fill(0)
    imaginary.fill(0)
    for (let y = 0; y < height; y++) {
      for (let from = 0; from < width; from++) {
        const value = values[y * width + from]!
        for (let x = 0; x < width; x++) {
          real[y * width + x]! += value * across.real[x * width + from]!
          imaginary[y * width + x]! += value * across.imaginary[x * width + from]!
        }
      }
    }
    const start = plane * height * width
    for (let y = 0; y < height; y++) {
      for (let from = 0; from < height; from++) {
        const [re, im] = [down.real[y * height + from]!, down.imaginary[y * height + from]!]
        for (let x = 0; x < width; x++)
          out[start + y * width + x]! += re * real[from * width + x]! - im * imaginary[from * width + x]!
      }
    }
  }
  return tensor(t.dims, out)
}

/** Row i, column j: 1/n · Σ e^{2πik(i-j)/n} over k from -m to m-1. */
function projection(size: number, cutoff: number): { readonly real: Float64Array; readonly imaginary: Float64Array } {
  const half = Math.min(cutoff, Math.floor(size / 2))
  const kernel = Array.from({ length: size }, (_, distance) => {
    let [re, im] = [0, 0]
    for (let k = -half; k < half; k++) {
      re += Math.cos((2 * Math.PI * k * distance) / size)
      im += Math.sin((2 * Math.PI * k * distance) / size)
    }
    return [re / size, im / size] as const
  })
  const at = (part: 0 | 1) =>
    Float64Array.from({ length: size * size }, (_, i) => {
      const distance = (Math.floor(i / size) - (i % size) + size) % size
      return kernel[distance]![part]
    })
  return { real: at(0), imaginary: at(1) }
}
