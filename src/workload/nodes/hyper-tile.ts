import { link, widget } from '../graph/node.ts'
import { boolean, int } from '../graph/widget.ts'
import { defineNode, MODEL } from './support/define.ts'

export default defineNode({
  type: 'HyperTile',
  module: 'comfy_extras.nodes_hypertile',
  category: 'model_patches/unet',
  title: 'HyperTile',
  description: 'Lets pixels attend to a part of the picture only, which is faster for large ones.',
  inputs: {
    model: link(MODEL),
    tile_size: widget(int({ default: 256, min: 1, max: 2048 })),
    swap_size: widget(int({ default: 2, min: 1, max: 128 })),
    max_depth: widget(int({ default: 0, min: 0, max: 10 })),
    scale_depth: widget(boolean({ default: false })),
  },
  outputs: [MODEL],
  run({ model, tile_size: tileSize, swap_size: swapSize, max_depth: maxDepth, scale_depth: scaleDepth }) {
    const network = model.network.altered({ kind: 'hyperTile', tileSize, swapSize, maxDepth, scaleDepth })
    return [{ ...model, network }]
  },
})
