import { widget } from '../graph/node.ts'
import type { Widget } from '../graph/widget.ts'
import { defineNode, IMAGE, MASK } from './support/define.ts'
import { checkImage, imageFingerprint, loadPicture } from './support/image-file.ts'

/** Editors fetch the choices themselves, as `name [output]`. */
const image: Widget<string> = {
  type: 'COMBO',
  options: {
    image_upload: true,
    image_folder: 'output',
    remote: { route: '/internal/files/output', refresh_button: true, control_after_refresh: 'first' },
  },
  read: String,
}

export default defineNode({
  type: 'LoadImageOutput',
  category: 'image',
  title: 'Read Saved Picture',
  description: 'Reads a picture from the output folder, and the transparent part of it as a mask.',
  inputs: { image: widget(image) },
  outputs: [IMAGE, MASK],
  experimental: true,
  validate: { names: ['image'], check: checkImage },
  fingerprint: imageFingerprint,
  run: loadPicture,
})
