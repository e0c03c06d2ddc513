import { link } from '../graph/node.ts'
import { isZero, mapped } from '../tensor/tensor.ts'
import { defineNode, LATENT, MODEL, NOISE, SIGMAS } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'

export default defineNode({
  type: 'AddNoise',
  category: '_for_testing/custom_sampling/noise',
  module: customSampler,
  title: 'Add Noise to Latents',
  description: 'Adds as much noise to latents as a schedule would take away.',
  inputs: { model: link(MODEL), noise: link(NOISE), sigmas: link(SIGMAS), latent_image: link(LATENT) },
  outputs: [LATENT],
  run({ model: { latent: format, sampling }, noise, sigmas, latent_image: latent }) {
    const [first, last] = [sigmas[0], sigmas.at(-1)]
    if (first === undefined || last === undefined) return [latent]
    const scale = sigmas.length > 1 ? Math.abs(Math.fround(first - last)) : first
    const picture = isZero(latent.samples) ? latent.samples : format.processIn(latent.samples)
    const noisy = format.processOut(sampling.addNoise(scale, noise.noiseFor(latent), picture, false))
    return [{ ...latent, samples: mapped(noisy, (value) => (Number.isFinite(value) ? value : 0)) }]
  },
})
