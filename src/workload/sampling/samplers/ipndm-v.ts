import { combined, type Tensor } from '../../tensor/tensor.ts'
import { slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

const order = 4

/**
 * Weights of the newest slopes for a step of length `h` after steps of lengths `h1` (the last), `h2`, `h3`: Adams and
 * Bashforth's for steps that differ, as far as `known` slopes go. The fourth order is that of the published code, which
 * is not quite theirs.
 */
function weightsOf(known: number, h: number, [h1 = 0, h2 = 0, h3 = 0]: readonly number[]): readonly number[] {
  if (known === 1) return [1]
  const weights = [1 + h / h1 / 2, -h / h1 / 2]
  if (known === 2) return weights
  if (known === 3) {
    const more = (1 - ((h / (3 * (h + h1))) * h * (h + h1)) / (h1 * (h1 + h2))) / 2
    return [weights[0]! + more, weights[1]! - (1 + h1 / h2) * more, (more * h1) / h2]
  }
  const part = (1 - h / (3 * (h + h1))) / 2 + ((1 - h / (2 * (h + h1))) * h) / (6 * (h + h1 + h2))
  const more = (part * h * (h + h1) * (h + h1 + h2)) / (h1 * (h1 + h2) * (h1 + h2 + h3))
  const ratio = (h1 * (h1 + h2)) / (h2 * (h2 + h3))
  const third = weightsOf(3, h, [h1, h2])
  return [
    third[0]! + more,
    third[1]! - (1 + h1 / h2 + ratio) * more,
    third[2]! + (h1 / h2 + ratio * (1 + h2 / h3)) * more,
    (-more * ratio * h1) / h2,
  ]
}

/** iPNDM, Zhang and Chen (2023), for steps of different lengths. */
export default stepwise('ipndm_v', ({ sigmas }) => {
  let slopes: readonly Tensor[] = []
  return ({ index, x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    slopes = [slope(x, sigma, denoised), ...slopes].slice(0, order)
    const lengths = slopes.slice(1).map((_, j) => sigmas[index - j]! - sigmas[index - j - 1]!)
    const weights = weightsOf(slopes.length, next - sigma, lengths)
    return combined([1, x], ...slopes.map((d, j) => [weights[j]! * (next - sigma), d] as const))
  }
})
