import { link, widget } from '../graph/node.ts'
import { int, string } from '../graph/widget.ts'
import { CLIP, CONDITIONING, defineNode, MAX_RESOLUTION } from './support/define.ts'
import { present } from './support/present.ts'

const pixels = (standard: number) => widget(int({ default: standard, min: 0, max: MAX_RESOLUTION }))
const text = widget(string({ multiline: true, dynamicPrompts: true }))

export default defineNode({
  type: 'CLIPTextEncodeSDXL',
  category: 'advanced/conditioning',
  title: 'Text to Conditioning (SDXL)',
  description: "Turns a text for each of SDXL's encoders, and the sizes that the model is told, into conditioning.",
  module: 'comfy_extras.nodes_clip_sdxl',
  inputs: {
    clip: link(CLIP),
    width: pixels(1024),
    height: pixels(1024),
    crop_w: pixels(0),
    crop_h: pixels(0),
    target_width: pixels(1024),
    target_height: pixels(1024),
    text_g: text,
    text_l: text,
  },
  outputs: [CONDITIONING],
  async run({ clip, width, height, crop_w, crop_h, target_width, target_height, text_g, text_l }) {
    const imageSize = {
      width,
      height,
      cropW: crop_w,
      cropH: crop_h,
      targetWidth: target_width,
      targetHeight: target_height,
    }
    const conditioning = await present(clip, 'text encoder').encode({ l: text_l, g: text_g })
    return [conditioning.map((entry) => ({ ...entry, imageSize }))]
  },
})
