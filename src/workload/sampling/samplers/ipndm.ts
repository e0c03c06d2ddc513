import { combined, type Tensor } from '../../tensor/tensor.ts'
import { slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Adams–Bashforth weights by how many slopes are known, the newest first. */
const weights = [[1], [3 / 2, -1 / 2], [23 / 12, -16 / 12, 5 / 12], [55 / 24, -59 / 24, 37 / 24, -9 / 24]] as const

/** The fourth-order linear multistep method of Zhang and Chen (2023), "iPNDM". */
export default stepwise('ipndm', () => {
  let slopes: readonly Tensor[] = []
  return ({ x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    slopes = [slope(x, sigma, denoised), ...slopes].slice(0, weights.length)
    const known = weights[slopes.length - 1]!
    return combined([1, x], ...slopes.map((d, i) => [known[i]! * (next - sigma), d] as const))
  }
})
