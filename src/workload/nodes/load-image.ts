import { widget } from '../graph/node.ts'
import { listed } from '../graph/widget.ts'
import { type Catalogue, defineNode, IMAGE, MASK } from './support/define.ts'
import { checkImage, imageFingerprint, loadPicture } from './support/image-file.ts'

export default ({ inputImages }: Catalogue) =>
  defineNode({
    type: 'LoadImage',
    category: 'image',
    title: 'Read Picture',
    description: 'Reads a picture, and the transparent part of it as a mask.',
    inputs: { image: widget(listed(inputImages, { image_upload: true })) },
    outputs: [IMAGE, MASK],
    validate: { names: ['image'], check: checkImage },
    fingerprint: imageFingerprint,
    run: loadPicture,
  })
