import { ancestralSplit, independentNoise, renoised } from '../ancestral.ts'
import { between } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** Euler's method that goes further down than asked and comes back with fresh noise. */
export default stepwise('euler_ancestral', (run, start) => {
  const noise = independentNoise(run, start)
  return ({ x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    const split = ancestralSplit(run.model, sigma, next)
    return renoised(between(x, denoised, split.down / sigma), split, noise(sigma, next))
  }
})
