import { link, widget } from '../graph/node.ts'
import { boolean, choice, float, int } from '../graph/widget.ts'
import { defineNode, MODEL } from './support/define.ts'

const methods = ['bicubic', 'nearest-exact', 'bilinear', 'area', 'bislerp'] as const
const method = widget({ ...choice(methods, { multiselect: false }), named: true })
const share = (initial: number) => widget(float({ default: initial, min: 0, max: 1, step: 0.001 }))

export default defineNode({
  type: 'PatchModelAddDownscale',
  module: 'comfy_extras.nodes_model_downscale',
  category: 'model_patches/unet',
  title: 'Deep Shrink',
  description: 'Composes large pictures at a smaller size during the first part of the run.',
  inputs: {
    model: link(MODEL),
    block_number: widget(int({ default: 3, min: 1, max: 32, step: 1 })),
    downscale_factor: widget(float({ default: 2, min: 0.1, max: 9, step: 0.001 })),
    start_percent: share(0),
    end_percent: share(0.35),
    downscale_after_skip: widget(boolean({ default: true })),
    downscale_method: method,
    upscale_method: method,
  },
  outputs: [MODEL],
  run({ model, ...settings }) {
    const { sampling } = model
    const network = model.network.altered({
      kind: 'downscale',
      block: settings.block_number,
      factor: settings.downscale_factor,
      afterSkip: settings.downscale_after_skip,
      downscaleMethod: settings.downscale_method,
      upscaleMethod: settings.upscale_method,
      sigmas: {
        start: sampling.percentToSigma(settings.start_percent),
        end: sampling.percentToSigma(settings.end_percent),
      },
    })
    return [{ ...model, network }]
  },
})
