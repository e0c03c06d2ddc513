import { widget } from '../graph/node.ts'
import { float, int } from '../graph/widget.ts'
import { blurred, unitGaussian } from '../tensor/blur.ts'
import { combined, mapped, type Tensor } from '../tensor/tensor.ts'
import { defineNode, LATENT_OPERATION } from './support/define.ts'
import { magnitudes } from './support/latents.ts'

export default defineNode({
  type: 'LatentOperationSharpen',
  module: 'comfy_extras.nodes_latent',
  category: 'latent/advanced/operations',
  title: 'Operation: Sharpen',
  description: 'Sharpens the directions of latents and leaves their magnitudes.',
  experimental: true,
  inputs: {
    sharpen_radius: widget(int({ default: 9, min: 1, max: 31, step: 1 })),
    sigma: widget(float({ default: 1, min: 0.1, max: 10, step: 0.1 })),
    alpha: widget(float({ default: 0.1, min: 0, max: 5, step: 0.01 })),
  },
  outputs: [LATENT_OPERATION],
  run: ({ sharpen_radius, sigma, alpha }) => [
    (latents) => sharpenedDirections(latents, unitGaussian(sharpen_radius, sigma), 10 * alpha),
  ],
})

function sharpenedDirections(latents: Tensor, kernel: Float32Array, strength: number): Tensor {
  const [, channels, height, width] = latents.dims as [number, number, number, number]
  const area = height * width
  const { data } = magnitudes(latents)
  const sizeAt = (i: number) => data[Math.floor(i / (channels * area)) * area + (i % area)]! + 1e-6
  const directions = mapped(latents, (value, i) => value / sizeAt(i))
  // Upstream convolves once with a kernel of sum 1 whose centre is raised: the same, written as what it does.
  const sharp = combined([1 + strength, directions], [-strength, blurred(directions, kernel)])
  return mapped(sharp, (value, i) => value * sizeAt(i))
}
