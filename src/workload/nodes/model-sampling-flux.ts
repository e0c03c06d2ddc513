import { link, widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { fluxSampling } from '../sampling/model-sampling.ts'
import { defineNode, MAX_RESOLUTION, MODEL } from './support/define.ts'
import { modelAdvanced } from './support/patched-sampling.ts'

/** Tokens of pictures of 256 and of 1024 pixels a side: where the two shifts hold. */
const [fewTokens, manyTokens] = [256, 4096] as const
/** Pixels of a token, both sides together. */
const tokenArea = 16 * 16
const side = () => widget(int({ default: 1024, min: 16, max: MAX_RESOLUTION, step: 8 }))
const shift = (initial: number) => widget(float({ default: initial, min: 0, max: 100, step: 0.01 }))

export default defineNode({
  type: 'ModelSamplingFlux',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Flux Model Sampling',
  description: 'Samples a Flux model with a shift that grows with the size of the picture.',
  inputs: { model: link(MODEL), max_shift: shift(1.15), base_shift: shift(0.5), width: side(), height: side() },
  outputs: [MODEL],
  run({ model, max_shift, base_shift, width, height }) {
    const slope = (max_shift - base_shift) / (manyTokens - fewTokens)
    const tokens = (width * height) / tokenArea
    return [{ ...model, sampling: fluxSampling({ shift: tokens * slope + base_shift - slope * fewTokens }) }]
  },
})
