import { endingInZero } from '../linspace.ts'
import type { Scheduler } from '../scheduler.ts'

/** Every so-many-th level the model was trained on. */
export default {
  name: 'simple',
  sigmas: (steps, { sigmas }) =>
    endingInZero(Array.from({ length: steps }, (_, i) => sigmas.at(-(1 + Math.trunc(i * (sigmas.length / steps))))!)),
} satisfies Scheduler
