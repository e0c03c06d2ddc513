import { widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { mapped, type Tensor } from '../tensor/tensor.ts'
import { defineNode, LATENT_OPERATION } from './support/define.ts'
import { magnitudes } from './support/latents.ts'

export default defineNode({
  type: 'LatentOperationTonemapReinhard',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced/operations',
  title: 'Operation: Compress Magnitudes',
  description: 'Compresses large magnitudes of latents (Reinhard et al., 2002).',
  experimental: true,
  inputs: { multiplier: widget(float({ default: 1, min: 0, max: 100, step: 0.01 })) },
  outputs: [LATENT_OPERATION],
  run: ({ multiplier }) => [(latents) => toneMapped(latents, multiplier)],
})

/** Magnitudes n of each picture become n / (n/top + 1), with top = (5 deviations + mean) · `multiplier`. */
function toneMapped(latents: Tensor, multiplier: number): Tensor {
  const [rows, channels, height, width] = latents.dims as [number, number, number, number]
  const area = height * width
  const sizes = mapped(magnitudes(latents), (size) => size + 1e-10).data
  const tops = Array.from({ length: rows }, (_, row) => {
    const own = sizes.subarray(row * area, (row + 1) * area)
    const mean = own.reduce((sum, size) => sum + size, 0) / area
    const variance = own.reduce((sum, size) => sum + (size - mean) ** 2, 0) / (area - 1)
    return (5 * Math.sqrt(variance) + mean) * multiplier
  })
  return mapped(latents, (value, i) => {
    const row = Math.floor(i / (channels * area))
    const size = sizes[row * area + (i % area)]!
    const share = size / tops[row]!
    return (value / size) * ((share / (share + 1)) * tops[row]!)
  })
}
