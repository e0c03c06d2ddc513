import { addScaled, combined } from '../../tensor/tensor.ts'
import { eulerStep, slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Heun's method that looks up to two steps ahead and weights the slopes by their noise levels. */
export default stepwise('heunpp2', ({ denoise, sigmas }) => async ({ index, x, sigma, next, denoised }) => {
  const [highest, lowest] = [sigmas[0]!, sigmas.at(-1)!]
  if (next === lowest) return eulerStep(x, sigma, next, denoised)
  const here = slope(x, sigma, denoised)
  const second = addScaled(x, here, next - sigma)
  const there = slope(second, next, await denoise(second, next))
  const afterNext = sigmas[index + 2]!
  if (afterNext === lowest) {
    const weight = next / (2 * highest)
    return combined([1, x], [(1 - weight) * (next - sigma), here], [weight * (next - sigma), there])
  }
  const third = addScaled(second, there, afterNext - next)
  const beyond = slope(third, afterNext, await denoise(third, afterNext))
  const [weight2, weight3] = [next / (3 * highest), afterNext / (3 * highest)]
  return combined(
    [1, x],
    [(1 - weight2 - weight3) * (next - sigma), here],
    [weight2 * (next - sigma), there],
    [weight3 * (next - sigma), beyond],
  )
})
