import { endingInZero, linspace } from '../linspace.ts'

const fround = Math.fround

/** Levels whose ln σ falls from that of `sigmaMax` to that of `sigmaMin` as the power `rho` of the way left, then 0. */
export function polyexponentialLevels(steps: number, sigmaMin: number, sigmaMax: number, rho: number): Float32Array {
  const [low, span] = [fround(Math.log(sigmaMin)), fround(Math.log(sigmaMax) - Math.log(sigmaMin))]
  const left = linspace(1, 0, steps).map((part) => part ** rho)
  return endingInZero(left.map((part) => Math.exp(fround(fround(part * span) + low))))
}
