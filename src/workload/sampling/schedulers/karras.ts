import type { Scheduler } from '../scheduler.ts'
import { karrasLevels } from '../schedules/karras.ts'

/** Evenly spaced in σ^(1/7): Karras et al. (2022), eq. 5. */
export default {
  name: 'karras',
  sigmas: (steps, { sigmaMin, sigmaMax }) => karrasLevels(steps, sigmaMin, sigmaMax),
} satisfies Scheduler
