import { combined, type Tensor } from '../../tensor/tensor.ts'
import { lagrange } from '../lagrange.ts'
import { eulerStep, slope } from '../slope.ts'
import { stepwise } from '../stepwise.ts'

const order = 3
/** Points of the sum that stands for the integral over a step. */
const points = 10_000

/** The variance-preserving process whose levels are 0.002 at time ε and 80 at time 1: β rises from β₀ to β₁. */
const epsilon = 1e-3
const [lowest, highest] = [Math.log(0.002 ** 2 + 1), Math.log(80 ** 2 + 1)]
const rise = (2 * (lowest / epsilon - highest)) / (epsilon - 1)
const beta0 = highest - rise / 2

/** The time at which that process is at level `sigma`. */
const timeOf = (sigma: number): number => (Math.sqrt(beta0 ** 2 + 2 * rise * Math.log(sigma ** 2 + 1)) - beta0) / rise

/** What a slope counts at time `tau`: ½β/√(ᾱ(1 - ᾱ)). */
function weightAt(tau: number): number {
  const alphaBar = Math.exp((-(tau ** 2) * rise) / 2 - tau * beta0)
  return (0.5 * (beta0 + tau * rise)) / Math.sqrt(alphaBar * (1 - alphaBar))
}

/** ∫ of the weight times each Lagrange polynomial through `times` from the first of them to `end`. */
function coefficients(times: readonly number[], end: number): readonly number[] {
  const sums = times.map(() => 0)
  const [start] = times as [number]
  for (let k = 0; k < points; k++) {
    const tau = start + ((end - start) * k) / (points - 1)
    const weight = weightAt(tau)
    for (let j = 0; j < sums.length; j++) sums[j]! += weight * lagrange(times, j, tau)
  }
  return sums.map((sum) => (sum * (end - start)) / points)
}

/** DEIS of Zhang and Chen (2023) in its tabulated form ("tAB"): slopes extrapolated in the time of a VP process. */
export default stepwise('deis', ({ sigmas }) => {
  let slopes: readonly Tensor[] = []
  return ({ index, x, sigma, next, denoised }) => {
    if (next === 0) return denoised
    slopes = [slope(x, sigma, denoised), ...slopes].slice(0, order)
    if (index === 0) return eulerStep(x, sigma, next, denoised)
    const times = slopes.map((_, j) => timeOf(sigmas[index - j]!))
    const known = coefficients(times, timeOf(next))
    return combined([1, x], ...slopes.map((d, j) => [known[j]!, d] as const))
  }
})
