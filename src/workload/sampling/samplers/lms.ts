import { combined, type Tensor } from '../../tensor/tensor.ts'
import { slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

const order = 4

/** ∫ of the j-th Lagrange polynomial through `nodes` from `from` to `to`; two Gauss points are exact to degree 3. */
function lagrangeIntegral(nodes: readonly number[], j: number, from: number, to: number): number {
  const half = (to - from) / 2
  const at = (tau: number) =>
    nodes.reduce((product, node, k) => (k === j ? product : (product * (tau - node)) / (nodes[j]! - node)), 1)
  const offset = half / Math.sqrt(3)
  return half * (at(from + half - offset) + at(from + half + offset))
}

/** The linear multistep method (Katherine Crowson, k-diffusion): slopes extrapolated by a cubic in σ. */
export default stepwise('lms', ({ sigmas }) => {
  let slopes: readonly Tensor[] = []
  return ({ index, x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    slopes = [slope(x, sigma, denoised), ...slopes].slice(0, order)
    const nodes = slopes.map((_, j) => sigmas[index - j]!)
    return combined([1, x], ...slopes.map((d, j) => [lagrangeIntegral(nodes, j, sigma, next), d] as const))
  }
})
