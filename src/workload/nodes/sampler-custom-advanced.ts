import { link, named } from '../graph/node.ts'
import { fittedLatent, sampleLatent } from '../sampling/driver.ts'
import { defineNode, GUIDER, LATENT, NOISE, SAMPLER, SIGMAS } from './support/define.ts'
import { customSampler } from './support/sigma-inputs.ts'
import { tellSteps } from './support/tell-steps.ts'

export default defineNode({
  type: 'SamplerCustomAdvanced',
  category: 'sampling/custom_sampling',
  module: customSampler,
  title: 'Sampler from Parts',
  description: 'A sampler put together from noise, guidance, an algorithm and noise levels.',
  inputs: {
    noise: link(NOISE),
    guider: link(GUIDER),
    sampler: link(SAMPLER),
    sigmas: link(SIGMAS),
    latent_image: link(LATENT),
  },
  outputs: [named(LATENT, 'output'), named(LATENT, 'denoised_output')],
  async run({ noise: source, guider, sampler, sigmas, latent_image }, context) {
    const latent = fittedLatent(guider.model, latent_image)
    const noise = source.noiseFor(latent)
    const run = { guider, latent, noise, sampler, sigmas, seed: source.seed, signal: context.signal }
    const { samples, denoised } = await sampleLatent({ ...run, onStep: tellSteps(guider.model, context) })
    return [
      { ...latent, samples },
      { ...latent, samples: denoised },
    ]
  },
})
