import { combined, type Tensor } from '../../tensor/tensor.ts'
import { lagrangeIntegral } from '../lagrange.ts'
import type { Sampler } from '../sampler.ts'
import { slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** The linear multistep method (Katherine Crowson, k-diffusion): slopes extrapolated by a polynomial in σ. */
export const lms = (order = 4): Sampler =>
  stepwise('lms', ({ sigmas }) => {
    let slopes: readonly Tensor[] = []
    return ({ index, x, sigma, next, denoised }) => {
      if (next === 0) return denoised
      slopes = [slope(x, sigma, denoised), ...slopes].slice(0, order)
      const nodes = slopes.map((_, j) => sigmas[index - j]!)
      return combined([1, x], ...slopes.map((d, j) => [lagrangeIntegral(nodes, j, sigma, next), d] as const))
    }
  })

export default lms()
