import { optional, widget } from '../graph/node.ts'
import { choice, fileOf } from '../graph/widget.ts'
import { type Catalogue, CLIP, defineNode } from './support/define.ts'
import { encoderDevice } from './support/encoder-device.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'CLIPLoader',
    category: 'advanced/loaders',
    title: 'Text Encoder from File',
    description:
      'Opens a text encoder from a file of its own, for models of the given type: stable_diffusion is supported, with ' +
      'CLIP-L for Stable Diffusion 1, OpenCLIP-H for 2 and OpenCLIP-G for the SDXL refiner.',
    inputs: {
      clip_name: widget(fileOf('text_encoders', files)),
      type: widget(
        choice([
          'stable_diffusion',
          'stable_cascade',
          'sd3',
          'stable_audio',
          'mochi',
          'ltxv',
          'pixart',
          'cosmos',
          'lumina2',
          'wan',
          'hidream',
          'chroma',
          'ace',
          'omnigen2',
          'qwen_image',
          'hunyuan_image',
        ]),
      ),
      device: optional(widget(encoderDevice)),
    },
    outputs: [CLIP],
    fingerprint: ({ clip_name }, { models }) => models.version('text_encoders', String(clip_name)),
    run: async ({ clip_name, type }, { models }) => [await models.textEncoder([clip_name], type)],
  })
