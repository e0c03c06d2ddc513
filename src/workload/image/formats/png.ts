import type { OutputOptions } from '../../../contracts/convert-output.ts'
import { defineFormat } from '../format.ts'
import { pipelineOf } from '../pixels.ts'

export default defineFormat({
  names: ['png'],
  mime: 'image/png',
  maxSide: 2 ** 31 - 1,
  encode: async (image, options) =>
    (await pipelineOf(image)).png(options.palette ? options : withoutPalette(options)).toBuffer(),
})

/** The encoder makes a palette as soon as one of the palette's options is present, even beside `palette: false`. */
function withoutPalette({ progressive, compressionLevel, adaptiveFiltering }: OutputOptions<'png'>) {
  return { progressive, compressionLevel, adaptiveFiltering, palette: false }
}
