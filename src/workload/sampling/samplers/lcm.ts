import { independentNoise } from '../ancestral.ts'
import { stepwise } from '../stepwise.ts'

/** Multistep consistency sampling (Luo et al. 2023): every guess is noised again to the next level. */
export default stepwise('lcm', (run, start) => {
  const noise = independentNoise(run, start)
  return ({ sigma, next, denoised }) =>
    next === 0 ? denoised : run.model.addNoise(next, noise(sigma, next), denoised, false)
})
