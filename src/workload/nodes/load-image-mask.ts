import { widget } from '../graph/node.ts'
import { choice, listed } from '../graph/widget.ts'
import { mapped } from '../tensor/tensor.ts'
import { type Catalogue, defineNode, MASK } from './support/define.ts'
import { checkImage, imageFingerprint } from './support/image-file.ts'

export default ({ inputImages }: Catalogue) =>
  defineNode({
    type: 'LoadImageMask',
    category: 'mask',
    title: 'Read Picture as Mask',
    description: 'Reads one channel of a picture as a mask; of alpha, what is transparent.',
    inputs: {
      image: widget(listed(inputImages, { image_upload: true })),
      channel: widget(choice(['alpha', 'red', 'green', 'blue'])),
    },
    outputs: [MASK],
    validate: { names: ['image'], check: checkImage },
    fingerprint: imageFingerprint,
    async run({ image, channel }, { images }) {
      const values = await images.loadChannel(image, channel)
      return [channel === 'alpha' ? mapped(values, (alpha) => 1 - alpha) : values]
    },
  })
