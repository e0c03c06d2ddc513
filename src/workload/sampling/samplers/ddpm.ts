import { addScaled, combined } from '../../tensor/tensor.ts'
import { independentNoise } from '../ancestral.ts'
import { slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

/** The reverse process of Ho et al. (2020), eq. 11, with ᾱ = 1/(σ² + 1). */
export default stepwise('ddpm', (run, start) => {
  const noise = independentNoise(run, start)
  return ({ x, sigma, next, denoised }) => {
    const [alphaBar, nextAlphaBar] = [1 / (sigma ** 2 + 1), 1 / (next ** 2 + 1)]
    const alpha = alphaBar / nextAlphaBar
    const mean = combined(
      [Math.sqrt(alphaBar / alpha), x],
      [-(1 - alpha) / Math.sqrt(alpha * (1 - alphaBar)), slope(x, sigma, denoised)],
    )
    if (next === 0) return mean
    const deviation = Math.sqrt(((1 - alpha) * (1 - nextAlphaBar)) / (1 - alphaBar))
    const scale = Math.sqrt(1 + next ** 2)
    return addScaled(combined([scale, mean]), noise(sigma, next), deviation * scale)
  }
})
