import { defineFormat } from '../format.ts'
import { pipelineOf } from '../pixels.ts'
import { withWebpExif } from '../webp-exif.ts'

export default defineFormat({
  names: ['webp'],
  mime: 'image/webp',
  maxSide: 16_383,
  encode: async (image, { progressive: _, ...options }) => (await pipelineOf(image)).webp(options).toBuffer(),
  withMetadata: withWebpExif,
})
