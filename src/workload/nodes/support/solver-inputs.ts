import { widget } from '../../graph/node.ts'
import { choice, float } from '../../graph/widget.ts'

/** A setting of a solver, 0 or more. */
export const setting = (initial: number, max = 100) =>
  widget(float({ default: initial, min: 0, max, step: 0.01, round: false }))

/** How much of the removed noise is replaced, and what the new noise is multiplied with. */
export const noiseInputs = { eta: setting(1), s_noise: setting(1) }

/** Where the noise is drawn; either way it is the processor's here, so that a seed gives one picture everywhere. */
export const noiseDevice = widget(choice(['gpu', 'cpu']))
