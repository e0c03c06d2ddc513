import { endingInZero, linspace } from '../linspace.ts'

const fround = Math.fround

/**
 * The levels at even times of the variance-preserving process of Song et al. (2021), from 1 to `lastTime`, then 0: its
 * β grows from `betaMin` by `betaSpan` a unit of time.
 */
export function variancePreservingLevels(
  steps: number,
  betaSpan: number,
  betaMin: number,
  lastTime: number,
): Float32Array {
  return endingInZero(
    linspace(1, lastTime, steps).map((t) => {
      const grown = fround(fround(fround(betaSpan) * fround(t * t)) / 2)
      return Math.sqrt(fround(Math.expm1(fround(grown + fround(fround(betaMin) * t)))))
    }),
  )
}
