import { endingInZero, linspace } from '../linspace.ts'

/** Levels from `sigmaMax` to `sigmaMin` that are evenly spaced in ln σ, then 0. */
export function exponentialLevels(steps: number, sigmaMin: number, sigmaMax: number): Float32Array {
  return endingInZero(linspace(Math.log(sigmaMax), Math.log(sigmaMin), steps).map(Math.exp))
}
