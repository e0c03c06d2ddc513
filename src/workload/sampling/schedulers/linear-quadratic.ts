import type { Scheduler } from '../scheduler.ts'

/** How much of the way the linear half goes. */
const threshold = 0.025

/** Small even steps in σ for the first half, then quadratically longer ones (Movie Gen, Polyak et al. 2024, §3.4.2). */
export default {
  name: 'linear_quadratic',
  sigmas(steps, { sigmaMax }) {
    if (steps === 1) return Float32Array.of(sigmaMax, 0)
    const linear = Math.floor(steps / 2)
    const quadratic = steps - linear
    const excess = linear - threshold * steps
    const square = excess / (linear * quadratic ** 2)
    const slope = threshold / linear - (2 * excess) / quadratic ** 2
    const done = (i: number) => {
      if (i === steps) return 1
      return i < linear ? (threshold * i) / linear : square * i ** 2 + slope * i + square * linear ** 2
    }
    return Float32Array.from({ length: steps + 1 }, (_, i) => Math.fround(1 - done(i)) * sigmaMax)
  },
} satisfies Scheduler
