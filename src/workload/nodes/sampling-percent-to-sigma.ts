import { link, named, widget } from '../graph/node.ts'
import { boolean, float } from '../graph/widget.ts'
import { defineNode, FLOAT, MODEL } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'SamplingPercentToSigma',
  category: 'sampling/custom_sampling/sigmas',
  module: customSampler,
  title: 'Noise Level at a Point of a Run',
  description:
    "A model's noise level at a fraction of the way from noise to image; the ends are beyond all levels unless its actual ones are wanted.",
  inputs: {
    model: link(MODEL),
    sampling_percent: widget(float({ default: 0, min: 0, max: 1, step: 0.0001 })),
    return_actual_sigma: widget(boolean({ default: false })),
  },
  outputs: [named(FLOAT, 'sigma_value')],
  run({ model: { sampling }, sampling_percent, return_actual_sigma }) {
    if (return_actual_sigma && sampling_percent === 0) return [sampling.sigmaMax]
    if (return_actual_sigma && sampling_percent === 1) return [sampling.sigmaMin]
    return [sampling.percentToSigma(sampling_percent)]
  },
})
