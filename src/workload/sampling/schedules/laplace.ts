import { linspace } from '../linspace.ts'

const fround = Math.fround
/** Keeps the logarithm finite at both ends. */
const margin = 1e-5

/**
 * Levels at even shares of a Laplace distribution of ln σ around `mu` with the scale `beta` (Hang et al. 2024), cut off
 * at both levels. They do not end in 0.
 */
export function laplaceLevels(
  steps: number,
  { sigmaMin, sigmaMax, mu, beta }: Readonly<Record<'sigmaMin' | 'sigmaMax' | 'mu' | 'beta', number>>,
): Float32Array {
  return linspace(0, 1, steps).map((part) => {
    const side = fround(0.5 - part)
    const tail = fround(Math.log(fround(fround(1 - 2 * Math.abs(side)) + fround(margin))))
    const lambda = fround(mu - fround(fround(beta * Math.sign(side)) * tail))
    return Math.min(Math.max(fround(Math.exp(lambda)), sigmaMin), sigmaMax)
  })
}
