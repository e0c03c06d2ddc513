import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { type Catalogue, defineNode, MODEL, SIGMAS } from './support/define.ts'
import { customSampler, denoiseShare, stepCount } from './support/sigma-inputs.ts'

export default (catalogue: Catalogue) =>
  defineNode({
    type: 'BasicScheduler',
    category: 'sampling/custom_sampling/schedulers',
    module: customSampler,
    title: 'Schedule of a Model',
    description:
      'The noise levels that a scheduler picks for a model; with less denoise the last part of a longer run.',
    inputs: {
      model: link(MODEL),
      scheduler: widget(choice([...catalogue.schedulers.keys()])),
      steps: stepCount(),
      denoise: denoiseShare(),
    },
    outputs: [SIGMAS],
    run({ model, scheduler, steps, denoise }) {
      if (denoise <= 0) return [new Float32Array()]
      const whole = denoise < 1 ? Math.trunc(steps / denoise) : steps
      return [
        catalogue.schedulers
          .get(scheduler)!
          .sigmas(whole, model.sampling)
          .slice(-(steps + 1)),
      ]
    },
  })
