import { widget } from '../../graph/node.ts'
import { float, int } from '../../graph/widget.ts'

/** A number that editors show as it is, with steps of 0.01 unless others are given. */
export const exact = (initial: number, max: number, { step = 0.01, min = 0 } = {}) =>
  widget(float({ default: initial, min, max, step, round: false }))

/** How many steps a schedule has. */
export const stepCount = () => widget(int({ default: 20, min: 1, max: 10_000 }))

/** What every scheduler that knows no model is told: steps, and the levels of Stable Diffusion to go between. */
export const levelInputs = () => ({
  steps: stepCount(),
  sigma_max: exact(14.614642, 5000),
  sigma_min: exact(0.0291675, 5000),
})

/** How much of a run is done. */
export const denoiseShare = () => widget(float({ default: 1, min: 0, max: 1, step: 0.01 }))

/** A guidance scale. */
export const cfgScale = () => widget(float({ default: 8, min: 0, max: 100, step: 0.1, round: 0.01 }))

/** Where upstream keeps these nodes. */
export const customSampler = 'comfy_extras.nodes_custom_sampler'
