import { link, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import { repeatRows, rowsOf } from '../tensor/rows.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import { defineNode, LATENT, MAX_RESOLUTION } from './support/define.ts'
import { CELL, requireEqual } from './support/latents.ts'

const distance = widget(int({ default: 0, min: 0, max: MAX_RESOLUTION, step: CELL }))

export default defineNode({
  type: 'LatentComposite',
  category: 'latent',
  title: 'Lay Latents over Latents',
  description: 'Lays latents over others, with soft edges if wanted; places and widths in pixels.',
  inputs: { samples_to: link(LATENT), samples_from: link(LATENT), x: distance, y: distance, feather: distance },
  outputs: [LATENT],
  run({ samples_to: lower, samples_from: upper, ...pixels }) {
    const [x, y, feather] = [pixels.x, pixels.y, pixels.feather].map((side) => Math.floor(side / CELL)) as Cells
    if (Math.min(x, y) < 0) throw new Error('latents cannot be laid at a negative place')
    return [{ ...lower, samples: laidOver(lower.samples, upper.samples, x, y, feather) }]
  },
})

type Cells = [number, number, number]

/** `upper` over `lower`, both `[N, C, H, W]`, from cell (x, y) on; what lies beyond the edges is cut off. */
function laidOver(lower: Tensor, upper: Tensor, x: number, y: number, feather: number): Tensor {
  const [rows, channels, height, width] = lower.dims as [number, number, number, number]
  requireEqual('channels', channels, upper.dims[1])
  if (rowsOf(upper) !== 1) requireEqual('batches', rows, rowsOf(upper))
  const source = repeatRows(upper, rows)
  const [, , upperHeight, upperWidth] = source.dims as [number, number, number, number]
  const [h, w] = [Math.max(0, Math.min(upperHeight, height - y)), Math.max(0, Math.min(upperWidth, width - x))]
  const down = softEdges(h, feather, y !== 0, y + h < height)
  const across = softEdges(w, feather, x !== 0, x + w < width)
  const data = lower.data.slice()
  for (let plane = 0; plane < rows * channels; plane++) {
    for (let i = 0; i < h; i++) {
      for (let j = 0; j < w; j++) {
        const to = (plane * height + y + i) * width + x + j
        const share = Math.fround(down[i]! * across[j]!)
        const laid = Math.fround(source.data[(plane * upperHeight + i) * upperWidth + j]! * share)
        data[to] = laid + Math.fround(data[to]! * Math.fround(1 - share))
      }
    }
  }
  return tensor(lower.dims, data)
}

/** How much of each of `length` cells shows: less towards an end that lies inside the picture below. */
function softEdges(length: number, feather: number, first: boolean, last: boolean): Float32Array {
  const shares = new Float32Array(length).fill(1)
  for (let t = 0; t < Math.min(feather, length); t++) {
    const factor = Math.fround((t + 1) / feather)
    if (first) shares[t] = shares[t]! * factor
    if (last) shares[length - 1 - t] = shares[length - 1 - t]! * factor
  }
  return shares
}
