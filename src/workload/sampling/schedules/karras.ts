import { endingInZero, linspace } from '../linspace.ts'

const fround = Math.fround

/**
 * Levels from `sigmaMax` to `sigmaMin` that are evenly spaced in σ^(1/ρ), then 0: Karras et al. (2022), eq. 5; each
 * operation rounded as on float32 tensors.
 */
export function karrasLevels(steps: number, sigmaMin: number, sigmaMax: number, rho = 7): Float32Array {
  const [low, high] = [sigmaMin ** (1 / rho), sigmaMax ** (1 / rho)]
  const roots = linspace(0, 1, steps).map((part) => fround(high) + fround(part * fround(low - high)))
  return endingInZero(roots.map((root) => root ** rho))
}
