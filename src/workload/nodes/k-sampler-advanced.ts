import { link, widget } from '../graph/node.ts'
import { choice, int, seed } from '../graph/widget.ts'
import { fittedLatent, sampleLatent, scheduleFor, stepRange } from '../sampling/driver.ts'
import { createCfgGuider } from '../sampling/guidance.ts'
import { prepareNoise } from '../sampling/noise-source.ts'
import { zeros } from '../tensor/tensor.ts'
import { type Catalogue, defineNode, LATENT, MODEL } from './support/define.ts'
import { samplerInputs } from './support/sampler-inputs.ts'
import { tellSteps } from './support/tell-steps.ts'

export default (catalogue: Catalogue) =>
  defineNode({
    type: 'KSamplerAdvanced',
    category: 'sampling',
    title: 'Sampler over Part of the Steps',
    description: 'A KSampler that does a part of the steps, so that several can share one schedule.',
    inputs: {
      model: link(MODEL),
      add_noise: widget(choice(['enable', 'disable'])),
      noise_seed: widget(seed({ control_after_generate: true })),
      ...samplerInputs(catalogue),
      start_at_step: widget(int({ default: 0, min: 0, max: 10_000 })),
      end_at_step: widget(int({ default: 10_000, min: 0, max: 10_000 })),
      return_with_leftover_noise: widget(choice(['disable', 'enable'])),
    },
    outputs: [LATENT],
    async run(inputs, context) {
      const { model, positive, negative, cfg, steps, noise_seed } = inputs
      const latent = fittedLatent(model, inputs.latent_image)
      const sampler = catalogue.samplers.get(inputs.sampler_name)!
      const scheduler = catalogue.schedulers.get(inputs.scheduler)!
      const sigmas = stepRange(scheduleFor({ scheduler, sampler, model: model.sampling, steps, denoise: 1 }), {
        start: inputs.start_at_step,
        end: inputs.end_at_step,
        leftoverNoise: inputs.return_with_leftover_noise === 'enable',
      })
      const noise = inputs.add_noise === 'enable' ? prepareNoise(latent, noise_seed) : zeros(latent.samples.dims)
      const guider = createCfgGuider({ model, positive, negative, cfg })
      const run = { guider, latent, noise, sampler, sigmas, seed: noise_seed, signal: context.signal }
      const { samples } = await sampleLatent({ ...run, onStep: tellSteps(model, context) })
      return [{ ...latent, samples }]
    },
  })
