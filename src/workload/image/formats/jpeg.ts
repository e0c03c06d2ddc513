import { defineFormat } from '../format.ts'
import { withJpegExif } from '../jpeg-exif.ts'
import { pipelineOf } from '../pixels.ts'

export default defineFormat({
  names: ['jpeg', 'jpg'],
  mime: 'image/jpeg',
  maxSide: 65_500,
  /** `mozjpeg` stands for several options that single ones undo, even with their defaults: nothing may be filled in. */
  encode: async (image, options) => (await pipelineOf(image)).jpeg(options).toBuffer(),
  withMetadata: withJpegExif,
})
