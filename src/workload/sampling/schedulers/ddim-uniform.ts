import { endingInZero } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

/** Levels at a whole stride from the second lowest up; their number may differ from the steps asked for. */
export default {
  name: 'ddim_uniform',
  sigmas(steps, { sigmas }) {
    const startsAtZero = Math.abs(sigmas[1]!) <= 1e-5
    const stride = Math.max(Math.floor(sigmas.length / (startsAtZero ? steps + 1 : steps)), 1)
    const levels = sigmas.filter((_, i) => i >= 1 && (i - 1) % stride === 0).reverse()
    return startsAtZero ? levels : endingInZero(levels)
  },
} satisfies Scheduler
