import { endingInZero, linspace } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

const fround = Math.fround

/** Evenly spaced in arctan σ: Sabour et al. (2024), "Align your steps", theorem 3.1. Undefined for a single step. */
export default {
  name: 'kl_optimal',
  sigmas(steps, { sigmaMin, sigmaMax }) {
    const [low, high] = [fround(Math.atan(sigmaMin)), fround(Math.atan(sigmaMax))]
    const angles = linspace(0, steps - 1, steps).map((i) => {
      const part = fround(i / (steps - 1))
      return fround(part * low) + fround(fround(1 - part) * high)
    })
    return endingInZero(angles.map(Math.tan))
  },
} satisfies Scheduler
