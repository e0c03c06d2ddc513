import { betaQuantile } from '../beta-distribution.ts'
import { endingInZero } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

/** Both parameters of the distribution: below 1, so that it crowds at both ends. */
const parameter = 0.6

/** Half to even, as numpy rounds. */
function rint(value: number): number {
  const rounded = Math.round(value)
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}

/** Timesteps at even shares of a beta distribution: Lee et al. (2024), "Beta sampling is all you need". */
export default {
  name: 'beta',
  sigmas(steps, { sigmas }) {
    const timesteps = Array.from({ length: steps }, (_, i) =>
      rint(betaQuantile(1 - i / steps, parameter, parameter) * (sigmas.length - 1)),
    )
    const distinct = timesteps.filter((timestep, i) => timestep !== timesteps[i - 1])
    return endingInZero(distinct.map((timestep) => sigmas[timestep]!))
  },
} satisfies Scheduler
