import { endingInZero, linspace } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

const fround = Math.fround
const rho = 7

/** Evenly spaced in σ^(1/7): Karras et al. (2022), eq. 5; each operation rounded as on float32 tensors. */
export default {
  name: 'karras',
  sigmas(steps, { sigmaMin, sigmaMax }) {
    const [low, high] = [sigmaMin ** (1 / rho), sigmaMax ** (1 / rho)]
    const roots = linspace(0, 1, steps).map((part) => fround(high) + fround(part * fround(low - high)))
    return endingInZero(roots.map((root) => root ** rho))
  },
} satisfies Scheduler
