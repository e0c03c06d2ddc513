import { emit, hidden, link, widget } from '../graph/node.ts'
import { float, int, string } from '../graph/widget.ts'
import type { AnimationArtifact } from '../image/images.ts'
import { delayOf } from './support/animation.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'SaveAnimatedPNG',
  category: 'image/animation',
  title: 'Output Moving PNG',
  description: 'Hands pictures to the client as the frames of one moving PNG.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    images: link(IMAGE),
    filename_prefix: widget(string({ default: 'ComfyUI' })),
    fps: widget(float({ default: 6, min: 0.01, max: 1000, step: 0.01 })),
    compress_level: widget(int({ default: 4, min: 0, max: 9 })),
    prompt: hidden('PROMPT'),
    extra_pnginfo: hidden('EXTRA_PNGINFO'),
  },
  outputs: [],
  output: true,
  run({ images: pixels, filename_prefix: prefix, fps, compress_level: compressionLevel }) {
    const encoding = { format: 'png', delay: delayOf(fps), compressionLevel } as const
    return emit([{ kind: 'animation', pixels, prefix, retention: 'output', encoding } satisfies AnimationArtifact])
  },
})
