import { WorkloadError } from '../base/errors.ts'
import { link } from '../graph/node.ts'
import type { Upscaler } from '../model/ports.ts'
import { channelsFirst, channelsLast } from '../tensor/channels.ts'
import { rowsOf } from '../tensor/rows.ts'
import { mapped, type Tensor } from '../tensor/tensor.ts'
import { tileCount, tiledScale } from '../tensor/tiled-scale.ts'
import { defineNode, IMAGE, type NodeContext, UPSCALE_MODEL } from './support/define.ts'

/** Pixels along the side of a tile at first, and at least; and how many of them its neighbours see too. */
const LARGEST = 512
const SMALLEST = 128
const OVERLAP = 32

export default defineNode({
  type: 'ImageUpscaleWithModel',
  module: 'comfy_extras.nodes_upscale_model',
  category: 'image/upscaling',
  title: 'Enlarge by Network',
  description: 'Enlarges pictures as much as the network does, tile by tile.',
  inputs: { upscale_model: link(UPSCALE_MODEL), image: link(IMAGE) },
  outputs: [IMAGE],
  async run({ upscale_model, image }, context) {
    const channels = image.dims[3]
    if (channels !== 3) throw new Error(`only pictures of 3 channels can be enlarged, not of ${channels}`)
    const enlarged = await enlargedInTiles(upscale_model, channelsFirst(image), LARGEST, context)
    return [mapped(channelsLast(enlarged), (value) => Math.min(Math.max(value, 0), 1))]
  },
})

/** With tiles of `side`, or of half of it and so on where the memory does not suffice. */
async function enlargedInTiles(
  { scale, upscale }: Upscaler,
  pixels: Tensor,
  side: number,
  { signal, progress }: Pick<NodeContext, 'signal' | 'progress'>,
): Promise<Tensor> {
  const tiling = { tile: { width: side, height: side }, overlap: OVERLAP, scale, channels: 3 }
  const [, , height, width] = pixels.dims as [number, number, number, number]
  const total = rowsOf(pixels) * tileCount(height, width, tiling)
  let done = 0
  try {
    return await tiledScale(pixels, tiling, async (tile) => {
      signal.throwIfAborted()
      const result = await upscale(tile)
      progress(++done, total)
      return result
    })
  } catch (error) {
    const exhausted = error instanceof WorkloadError && error.code === 'out-of-memory'
    if (!exhausted || side / 2 < SMALLEST) throw error
    return enlargedInTiles({ scale, upscale }, pixels, side / 2, { signal, progress })
  }
}
