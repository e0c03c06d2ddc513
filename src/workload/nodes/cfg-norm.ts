import { link, named, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { normLimitedGuidance } from '../sampling/hooks/norm.ts'
import { defineNode, MODEL } from './support/define.ts'
import { withHook } from './support/patched-sampling.ts'

export default defineNode({
  type: 'CFGNorm',
  category: 'advanced/guidance',
  module: 'comfy_extras.nodes_cfg',
  experimental: true,
  title: 'Norm-Limited Guidance',
  description: 'Keeps guidance from making any place of the picture stronger than the positive alone would.',
  inputs: { model: link(MODEL), strength: widget(float({ default: 1, min: 0, max: 100, step: 0.01 })) },
  outputs: [named(MODEL, 'patched_model')],
  run: ({ model, strength }) => [withHook(model, normLimitedGuidance(strength))],
})
