import { widget } from '../graph/node.ts'
import { listed } from '../graph/widget.ts'
import { rowsOf } from '../tensor/rows.ts'
import { zeros } from '../tensor/tensor.ts'
import { type Catalogue, defineNode, IMAGE, MASK } from './support/define.ts'
import { checkImage, imageFingerprint } from './support/image-file.ts'

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
    async run({ image }, { images }) {
      const { pixels, mask } = await images.load(image)
      // Upstream hands on an empty mask of this size for an opaque picture, whatever the picture's own size.
      return [pixels, mask ?? zeros([rowsOf(pixels), 64, 64])]
    },
  })
