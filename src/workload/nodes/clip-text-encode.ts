import { link, widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import { CLIP, CONDITIONING, defineNode } from './support/define.ts'
import { present } from './support/present.ts'

export default defineNode({
  type: 'CLIPTextEncode',
  category: 'conditioning',
  title: 'Text to Conditioning',
  description: 'Turns a text into conditioning; knows (weights:1.2) and embedding:names.',
  inputs: { text: widget(string({ multiline: true, dynamicPrompts: true })), clip: link(CLIP) },
  outputs: [CONDITIONING],
  run: async ({ text, clip }) => [await present(clip, 'text encoder').encode(text)],
})
