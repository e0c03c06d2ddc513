import { addScaled, combined, type Tensor } from '../tensor/tensor.ts'

/** dx/dσ, Karras et al. (2022), eq. 3. */
export function slope(x: Tensor, sigma: number, denoised: Tensor): Tensor {
  return combined([1 / sigma, x], [-1 / sigma, denoised])
}

/** Euler's step from `sigma` to `next`: x + (next - σ)·dx/dσ, which is the guess itself when `next` is 0. */
export function eulerStep(x: Tensor, sigma: number, next: number, denoised: Tensor): Tensor {
  if (next === 0) return denoised
  return addScaled(x, slope(x, sigma, denoised), next - sigma)
}

/** The point at `part` of the way from the guess (0) to x (1); with part = next/σ this is Euler's step. */
export function between(x: Tensor, denoised: Tensor, part: number): Tensor {
  return combined([part, x], [1 - part, denoised])
}
