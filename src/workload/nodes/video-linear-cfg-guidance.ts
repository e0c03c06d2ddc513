import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { risingGuidance } from '../sampling/hooks/per-frame.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'VideoLinearCFGGuidance',
  category: 'sampling/video_models',
  module: 'comfy_extras.nodes_video_model',
  title: 'Guidance Rising over Frames',
  description: 'Guides the first frame of a batch by the least scale and the last by the whole one.',
  inputs: { model: link(MODEL), min_cfg: widget(float({ default: 1, min: 0, max: 100, step: 0.5, round: 0.01 })) },
  outputs: [MODEL],
  run: ({ model, min_cfg }) => [withHook(model, risingGuidance(min_cfg))],
})
