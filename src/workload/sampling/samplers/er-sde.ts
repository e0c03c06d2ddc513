import { addScaled, combined, type Tensor } from '../../tensor/tensor.ts'
import { independentNoise, type NoiseOptions } from '../ancestral.ts'
import { alphaOf, levelsOfFiniteSnr } from '../log-snr.ts'
import type { Sampler } from '../sampler.ts'
import { stepwise } from '../stepwise.ts'

/** What may be set of the extended reverse-time SDE solver. */
export interface ErSdeOptions extends Pick<NoiseOptions, 'noiseScale'> {
  /** How the noise of the process falls with the noise-to-signal ratio v, which chooses among the SDEs. */
  readonly noiseFall?: (v: number) => number
  /** Up to how many guesses a step is made from, 1 to 3. */
  readonly maxStage?: number
}

/** Points of the sums that stand for the integrals of 1/φ. */
const points = 200

const extended = (v: number): number => v * (Math.exp(v ** 0.3) + 10)

/** ER-SDE-Solver-3, Cui et al. (2023), with left Riemann sums. */
export const erSde = ({ noiseFall = extended, maxStage = 3, noiseScale = 1 }: ErSdeOptions = {}): Sampler =>
  stepwise(
    'er_sde',
    (run, start) => {
      const noise = independentNoise(run, start, noiseScale)
      /** The newest first: the ratio a guess was made at, and the guess and its slope. */
      let earlier: readonly { readonly at: number; readonly denoised: Tensor; readonly slope: Tensor | undefined }[] =
        []

      return ({ index, x, sigma, next, denoised }) => {
        if (next === 0) return denoised
        const [alpha, nextAlpha] = [alphaOf(run.model, sigma), alphaOf(run.model, next)]
        const [at, to] = [sigma / alpha, next / nextAlpha]
        const [last, first] = earlier
        const slope = last && difference(denoised, last.denoised, at - last.at)
        earlier = [{ at, denoised, slope }, ...earlier].slice(0, 2)

        const stages = Math.min(index + 1, maxStage)
        const kept = noiseFall(to) / noiseFall(at)
        const sums = integrals(noiseFall, at, to)
        let reached = combined([(nextAlpha / alpha) * kept, x], [nextAlpha * (1 - kept), denoised])
        if (slope && stages >= 2)
          reached = addScaled(reached, slope, nextAlpha * (to - at + sums.plain * noiseFall(to)))
        if (slope && last?.slope && first && stages >= 3) {
          const curvature = difference(slope, last.slope, (at - first.at) / 2)
          reached = addScaled(reached, curvature, nextAlpha * ((to - at) ** 2 / 2 + sums.first * noiseFall(to)))
        }
        if (noiseScale === 0) return reached
        // Rounding may leave less than nothing where no noise is due.
        const variance = Math.max(0, to ** 2 - (at * kept) ** 2)
        return addScaled(reached, noise(sigma, next), nextAlpha * Math.sqrt(variance))
      }
    },
    levelsOfFiniteSnr,
  )

const difference = (a: Tensor, b: Tensor, over: number): Tensor => combined([1 / over, a], [-1 / over, b])

/** ∫ dv/φ(v) and ∫ (v - at)/φ(v) dv from `to` up to `at`. */
function integrals(noiseFall: (v: number) => number, at: number, to: number) {
  const width = (at - to) / points
  let [plain, first] = [0, 0]
  for (let k = 0; k < points; k++) {
    const v = to + k * width
    plain += width / noiseFall(v)
    first += ((v - at) * width) / noiseFall(v)
  }
  return { plain, first }
}

export default erSde()
