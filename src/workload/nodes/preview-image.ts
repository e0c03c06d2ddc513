import { emit, hidden, link } from '../graph/node.ts'
import type { ImageArtifact } from '../image/images.ts'
import { defineNode, IMAGE } from './support/define.ts'

export default defineNode({
  type: 'PreviewImage',
  category: 'image',
  title: 'Show Pictures',
  description: 'Shows pictures while a prompt runs; they are no part of its result.',
  inputs: { images: link(IMAGE), prompt: hidden('PROMPT'), extra_pnginfo: hidden('EXTRA_PNGINFO') },
  outputs: [],
  output: true,
  run: ({ images: pixels }) =>
    emit([{ kind: 'image', pixels, prefix: 'ComfyUI_temp', retention: 'temp' } satisfies ImageArtifact]),
})
