import { link, widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { frequencyScaledGuidance } from '../sampling/hooks/frequency.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'FreSca',
  category: '_for_testing',
  module: 'comfy_extras.nodes_fresca',
  experimental: true,
  title: 'Guidance by Frequency',
  description: 'Scales the coarse and the fine structure of guidance apart.',
  inputs: {
    model: link(MODEL),
    scale_low: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
    scale_high: widget(float({ default: 1.25, min: 0, max: 10, step: 0.01 })),
    freq_cutoff: widget(int({ default: 20, min: 1, max: 10_000, step: 1 })),
  },
  outputs: [MODEL],
  run: ({ model, scale_low, scale_high, freq_cutoff }) => [
    withHook(model, frequencyScaledGuidance({ low: scale_low, high: scale_high, cutoff: freq_cutoff })),
  ],
})
