import { defineFormat } from '../format.ts'
import { pipelineOf } from '../pixels.ts'

export default defineFormat({
  names: ['avif'],
  mime: 'image/avif',
  maxSide: 16_384,
  encode: async (image, { progressive: _, ...options }) => (await pipelineOf(image)).avif(options).toBuffer(),
})
