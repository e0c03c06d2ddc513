import { link, widget } from '../graph/node.ts'
import { float, seed } from '../graph/widget.ts'
import { fittedLatent, sampleLatent, scheduleFor } from '../sampling/driver.ts'
import { createCfgGuider } from '../sampling/guidance.ts'
import { prepareNoise } from '../sampling/noise-source.ts'
import { type Catalogue, defineNode, LATENT, MODEL } from './support/define.ts'
import { samplerInputs } from './support/sampler-inputs.ts'
import { tellSteps } from './support/tell-steps.ts'

export default (catalogue: Catalogue) =>
  defineNode({
    type: 'KSampler',
    category: 'sampling',
    title: 'Sampler',
    description: 'Removes noise from latents step by step, steered by the positive and away from the negative text.',
    inputs: {
      model: link(MODEL),
      seed: widget(seed({ control_after_generate: true })),
      ...samplerInputs(catalogue),
      denoise: widget(float({ default: 1, min: 0, max: 1, step: 0.01 })),
    },
    outputs: [LATENT],
    async run(inputs, context) {
      const { model, positive, negative, cfg, steps, denoise } = inputs
      const latent = fittedLatent(model, inputs.latent_image)
      const sampler = catalogue.samplers.get(inputs.sampler_name)!
      const scheduler = catalogue.schedulers.get(inputs.scheduler)!
      const sigmas = scheduleFor({ scheduler, sampler, model: model.sampling, steps, denoise })
      const noise = prepareNoise(latent, inputs.seed)
      const guider = createCfgGuider({ model, positive, negative, cfg })
      const run = { guider, latent, noise, sampler, sigmas, seed: inputs.seed, signal: context.signal }
      const { samples } = await sampleLatent({ ...run, onStep: tellSteps(model, context) })
      return [{ ...latent, samples }]
    },
  })
