import { emit, hidden, link, widget } from '../graph/node.ts'
import { boolean, choice, float, int, string } from '../graph/widget.ts'
import type { AnimationArtifact } from '../image/images.ts'
import { delayOf } from './support/animation.ts'
import { defineNode, IMAGE } from './support/define.ts'

const EFFORTS = { default: 4, fastest: 0, slowest: 6 } as const

export default defineNode({
  type: 'SaveAnimatedWEBP',
  category: 'image/animation',
  title: 'Output Moving WebP',
  description: 'Hands pictures to the client as the frames of one moving WebP.',
  module: 'comfy_extras.nodes_images',
  inputs: {
    images: link(IMAGE),
    filename_prefix: widget(string({ default: 'ComfyUI' })),
    fps: widget(float({ default: 6, min: 0.01, max: 1000, step: 0.01 })),
    lossless: widget(boolean({ default: true })),
    quality: widget(int({ default: 80, min: 0, max: 100 })),
    method: widget(choice(['default', 'fastest', 'slowest'])),
    prompt: hidden('PROMPT'),
    extra_pnginfo: hidden('EXTRA_PNGINFO'),
  },
  outputs: [],
  output: true,
  run({ images: pixels, filename_prefix: prefix, fps, lossless, quality, method }) {
    const encoding = { format: 'webp', delay: delayOf(fps), lossless, quality, effort: EFFORTS[method] } as const
    return emit([{ kind: 'animation', pixels, prefix, retention: 'output', encoding } satisfies AnimationArtifact])
  },
})
