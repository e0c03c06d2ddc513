import { optional, widget } from '../graph/node.ts'
import { choice, fileOf } from '../graph/widget.ts'
import { type Catalogue, CLIP, defineNode } from './support/define.ts'
import { encoderDevice } from './support/encoder-device.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'DualCLIPLoader',
    category: 'advanced/loaders',
    title: 'Text Encoder from Two Files',
    description:
      'Joins two text encoders from files of their own, for models of the given type: sdxl is supported, with CLIP-L ' +
      'and OpenCLIP-G in either order.',
    inputs: {
      clip_name1: widget(fileOf('text_encoders', files)),
      clip_name2: widget(fileOf('text_encoders', files)),
      type: widget(choice(['sdxl', 'sd3', 'flux', 'hunyuan_video', 'hidream', 'hunyuan_image'])),
      device: optional(widget(encoderDevice)),
    },
    outputs: [CLIP],
    async fingerprint({ clip_name1, clip_name2 }, { models }) {
      const versions = [clip_name1, clip_name2].map((name) => models.version('text_encoders', String(name)))
      return (await Promise.all(versions)).join(' ')
    },
    run: async ({ clip_name1, clip_name2, type }, { models }) => [
      await models.textEncoder([clip_name1, clip_name2], type),
    ],
  })
