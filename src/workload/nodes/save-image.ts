import { emit, hidden, link, widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import type { ImageArtifact } from '../image/images.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'SaveImage',
  category: 'image',
  title: 'Output Pictures',
  description: 'Hands pictures to the client.',
  inputs: {
    images: link(IMAGE),
    filename_prefix: widget(string({ default: 'ComfyUI' })),
    prompt: hidden('PROMPT'),
    extra_pnginfo: hidden('EXTRA_PNGINFO'),
  },
  outputs: [],
  output: true,
  run: ({ images: pixels, filename_prefix: prefix }) =>
    emit([{ kind: 'image', pixels, prefix, retention: 'output' } satisfies ImageArtifact]),
})
