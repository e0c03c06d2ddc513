import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { CLIP, defineNode } from './support/define.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'CLIPSetLastLayer',
  category: 'conditioning',
  title: 'Clip Skip',
  description: 'Stops the text encoder at an earlier layer, counted from the end (clip skip).',
  inputs: { clip: link(CLIP), stop_at_clip_layer: widget(int({ default: -1, min: -24, max: -1, step: 1 })) },
  outputs: [CLIP],
  run: ({ clip, stop_at_clip_layer }) => [present(clip, 'text encoder').stoppingAt(stop_at_clip_layer)],
})
