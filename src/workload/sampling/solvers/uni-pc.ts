import { WorkloadError } from '../../base/errors.ts'
import { combined, scaled, type Tensor } from '../../tensor/tensor.ts'
import { solveLinear } from '../linear-system.ts'
import type { Sampler } from '../sampler.ts'
import { stepwise } from '../stepwise.ts'

const fround = Math.fround
const maxOrder = 3
/** The last level, where λ would be infinite at 0. */
const lastLevel = fround(0.001)

/** How a step's B(h) depends on its length, table 1 of the paper: h itself or e^h - 1. */
type Variant = 'bh1' | 'bh2'

/** A level as the variance-preserving process has it: α² + σ² = 1, λ = ln(α/σ). */
interface Level {
  readonly alpha: number
  readonly sigma: number
  readonly lambda: number
}

/** A guess at the clean image, and the level at which it was made. */
interface Guess {
  readonly at: Level
  readonly denoised: Tensor
}

/** Rounded after each operation: what float32 loses of 1 - α² at the last level is part of the result. */
function levelOf(sigma: number): Level {
  const logAlpha = fround(0.5 * fround(Math.log(fround(1 / fround(fround(sigma * sigma) + 1)))))
  const variance = fround(1 - fround(Math.exp(fround(2 * logAlpha))))
  return {
    alpha: fround(Math.exp(logAlpha)),
    sigma: fround(Math.sqrt(variance)),
    lambda: fround(logAlpha - fround(0.5 * fround(Math.log(variance)))),
  }
}

/** The step to one level: its prediction, and the correction that a guess there allows. */
interface Update {
  readonly predicted: Tensor
  corrected(there: Tensor): Tensor
}

/** UniP and UniC of the order that the number of guesses gives; algorithms 5 to 8 of the paper, data prediction. */
function updateTo(to: Level, x: Tensor, guesses: readonly [Guess, ...Guess[]], variant: Variant): Update {
  const [{ at, denoised }, ...earlier] = guesses
  const h = to.lambda - at.lambda
  const shrink = Math.expm1(-h)
  const scale = variant === 'bh1' ? -h : shrink
  const places = [...earlier.map((guess) => (guess.at.lambda - at.lambda) / h), 1]
  const rows = places.map((_, power) => places.map((place) => place ** power))
  const targets = targetsFor(-h, places.length).map((target) => target / scale)

  const step = (weights: readonly number[], there?: Tensor): Tensor => {
    const terms = weights.map((weight, i) => {
      const guess = earlier[i]?.denoised ?? there! // behind the earlier ones comes the one that corrects
      return [(-to.alpha * scale * weight) / places[i]!, guess] as const
    })
    const taken = terms.reduce((sum, [weight]) => sum + weight, 0)
    return combined([to.sigma / at.sigma, x], [-to.alpha * shrink - taken, denoised], ...terms)
  }
  const predictor = places.length === 2 ? [0.5] : solveLeading(rows, targets, places.length - 1)
  const corrector = places.length === 1 ? [0.5] : solveLinear(rows, targets)
  return { predicted: step(predictor), corrected: (there) => step(corrector, there) }
}

const solveLeading = (rows: readonly (readonly number[])[], b: readonly number[], size: number) =>
  solveLinear(
    rows.slice(0, size).map((row) => row.slice(0, size)),
    b.slice(0, size),
  )

/** k!·z·φ_{k+1}(z) for k = 1 to `count`, where φ₁ = (e^z - 1)/z and φ_{k+1} = (φ_k - 1/k!)/z. */
function targetsFor(z: number, count: number): readonly number[] {
  const targets: number[] = []
  let [phi, factorial] = [Math.expm1(z) / z - 1, 1]
  for (let k = 1; k <= count; k++) {
    factorial *= k
    targets.push(phi * factorial)
    phi = phi / z - 1 / (factorial * (k + 1))
  }
  return targets
}

/** The levels as they are walked: 0 at the end becomes a very low one. */
const levelsOf = (sigmas: Float32Array): Float32Array =>
  sigmas.at(-1) === 0 ? Float32Array.of(...sigmas.subarray(0, -1), lastLevel) : sigmas

/**
 * UniPC (Zhao et al. 2023), multistep, order 3 with lower orders at both ends, on data prediction. Every guess corrects
 * the step that led to it; the last step is only predicted.
 */
export function uniPc(name: string, variant: Variant): Sampler {
  return {
    ...stepwise(
      name,
      ({ sigmas }) => {
        const steps = sigmas.length - 1
        if (steps === 1) throw new WorkloadError('execution-failed', `the sampler ${name} takes 2 steps or more`)
        const order = Math.min(maxOrder, steps - 1)
        let guesses: readonly Guess[] = []
        let pending: Update | undefined

        return ({ index, x, sigma, next, denoised }) => {
          const at = levelOf(sigma)
          const corrected = pending?.corrected(denoised) ?? scaled(x, at.alpha)
          guesses = [{ at, denoised }, ...guesses].slice(0, order)
          const used = guesses.slice(0, steps - index)
          const to = levelOf(next)
          pending = updateTo(to, corrected, used as [Guess, ...Guess[]], variant) // the newest is among them
          return scaled(pending.predicted, 1 / to.alpha)
        }
      },
      ({ sigmas }) => levelsOf(sigmas),
    ),
    discardsPenultimate: true,
    endsAt: (sigmas) => levelsOf(sigmas).at(-1)!,
  }
}
