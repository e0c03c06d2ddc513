import { link, named, widget } from '../graph/node.ts'
import { boolean, seed } from '../graph/widget.ts'
import { fittedLatent, sampleLatent } from '../sampling/driver.ts'
import { createCfgGuider } from '../sampling/guidance.ts'
import { noNoise, prepareNoise } from '../sampling/noise-source.ts'
import { CONDITIONING, defineNode, LATENT, MODEL, SAMPLER, SIGMAS } from './support/define.ts'
import { cfgScale, customSampler } from './support/sigma-inputs.ts'
import { tellSteps } from './support/tell-steps.ts'

export default defineNode({
  type: 'SamplerCustom',
  category: 'sampling/custom_sampling',
  module: customSampler,
  title: 'Sampler with Own Schedule',
  description: 'A sampler that is given its algorithm and its noise levels; also gives the last guess at the image.',
  inputs: {
    model: link(MODEL),
    add_noise: widget(boolean({ default: true })),
    noise_seed: widget(seed({ control_after_generate: true })),
    cfg: cfgScale(),
    positive: link(CONDITIONING),
    negative: link(CONDITIONING),
    sampler: link(SAMPLER),
    sigmas: link(SIGMAS),
    latent_image: link(LATENT),
  },
  outputs: [named(LATENT, 'output'), named(LATENT, 'denoised_output')],
  async run(inputs, context) {
    const { model, positive, negative, cfg, sampler, sigmas, noise_seed } = inputs
    const latent = fittedLatent(model, inputs.latent_image)
    const noise = inputs.add_noise ? prepareNoise(latent, noise_seed) : noNoise.noiseFor(latent)
    const guider = createCfgGuider({ model, positive, negative, cfg })
    const run = { guider, latent, noise, sampler, sigmas, seed: noise_seed, signal: context.signal }
    const { samples, denoised } = await sampleLatent({ ...run, onStep: tellSteps(model, context) })
    return [
      { ...latent, samples },
      { ...latent, samples: denoised },
    ]
  },
})
