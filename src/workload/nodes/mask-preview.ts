import { emit, hidden, link } from '../graph/node.ts'
import type { ImageArtifact } from '../image/images.ts'
import { defineNode, MASK } from './support/define.ts'
import { greyOf } from './support/mask-image.ts'

export default defineNode({
  type: 'MaskPreview',
  category: 'mask',
  title: 'Show Mask',
  description: 'Shows a mask while a prompt runs; it is no part of the result.',
  module: 'comfy_extras.nodes_mask',
  inputs: { mask: link(MASK), prompt: hidden('PROMPT'), extra_pnginfo: hidden('EXTRA_PNGINFO') },
  outputs: [],
  output: true,
  run: ({ mask }) =>
    emit([{ kind: 'image', pixels: greyOf(mask), prefix: 'ComfyUI_temp', retention: 'temp' } satisfies ImageArtifact]),
})
