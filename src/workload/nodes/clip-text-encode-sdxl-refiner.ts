import { link, widget } from '../graph/node.ts'
import { float, int, string } from '../graph/widget.ts'
import { CLIP, CONDITIONING, defineNode, MAX_RESOLUTION } from './support/define.ts'
import { present } from './support/present.ts'

const pixels = widget(int({ default: 1024, min: 0, max: MAX_RESOLUTION }))

export default defineNode({
  type: 'CLIPTextEncodeSDXLRefiner',
  category: 'advanced/conditioning',
  title: 'Text to Conditioning (SDXL Refiner)',
  description: 'Turns a text, the size and the beauty that the refiner is told into conditioning.',
  module: 'comfy_extras.nodes_clip_sdxl',
  inputs: {
    ascore: widget(float({ default: 6, min: 0, max: 1000, step: 0.01 })),
    width: pixels,
    height: pixels,
    text: widget(string({ multiline: true, dynamicPrompts: true })),
    clip: link(CLIP),
  },
  outputs: [CONDITIONING],
  async run({ ascore, width, height, text, clip }) {
    const conditioning = await present(clip, 'text encoder').encode(text)
    return [conditioning.map((entry) => ({ ...entry, aestheticScore: ascore, imageSize: { width, height } }))]
  },
})
