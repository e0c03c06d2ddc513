import { link, widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { fromBytes, toBytes } from '../tensor/bytes.ts'
import { addPattern, diffuseErrors, mapToPalette } from '../tensor/dither.ts'
import { medianCutPalette } from '../tensor/median-cut.ts'
import { createPalette } from '../tensor/palette.ts'
import { takeRows } from '../tensor/rows.ts'
import { tensor } from '../tensor/tensor.ts'
import { defineNode, IMAGE } from './support/define.ts'
import { shapeOf, withChannels } from './support/picture.ts'

const DITHERS = ['none', 'floyd-steinberg', 'bayer-2', 'bayer-4', 'bayer-8', 'bayer-16'] as const

export default defineNode({
  type: 'ImageQuantize',
  category: 'image/postprocessing',
  title: 'Reduce Colours',
  description: 'Draws a picture with few colours of its own (median cut), with or without dithering.',
  module: 'comfy_extras.nodes_post_processing',
  inputs: {
    image: link(IMAGE),
    colors: widget(int({ default: 256, min: 1, max: 256, step: 1 })),
    dither: widget({ ...choice(DITHERS), named: true }),
  },
  outputs: [IMAGE],
  run({ image, colors, dither }) {
    const opaque = withChannels(image, 3)
    const { rows, height, width } = shapeOf(opaque)
    const data = new Float32Array(opaque.data.length)
    for (let row = 0; row < rows; row++) {
      const pixels = toBytes(takeRows(opaque, row, row + 1).data)
      data.set(fromBytes(quantized(pixels, width, colors, dither)), row * height * width * 3)
    }
    return [tensor(opaque.dims, data)]
  },
})

function quantized(pixels: Uint8Array, width: number, colors: number, dither: (typeof DITHERS)[number]): Uint8Array {
  const palette = createPalette(medianCutPalette(pixels, colors))
  if (dither === 'none') return mapToPalette(pixels, palette)
  if (dither === 'floyd-steinberg') return diffuseErrors(pixels, width, palette)
  const power = Math.log2(Number(dither.slice('bayer-'.length)))
  return mapToPalette(addPattern(pixels, width, power, (2 * 256) / palette.colours.length), palette)
}
