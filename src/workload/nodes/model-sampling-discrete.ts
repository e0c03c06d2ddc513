import { link, widget } from '../graph/node.ts'
import { boolean, choice } from '../graph/widget.ts'
import { discreteSampling, distilledSampling } from '../sampling/model-sampling.ts'
import type { NoisedOutput } from '../sampling/prediction.ts'
import { defineNode, MODEL } from './support/define.ts'
import { modelAdvanced } from './support/patched-sampling.ts'

const predictions = {
  eps: 'eps',
  v_prediction: 'v',
  x0: 'x0',
  img_to_img: 'imgToImg',
} as const satisfies Readonly<Record<string, NoisedOutput>>

export default defineNode({
  type: 'ModelSamplingDiscrete',
  category: 'advanced/model',
  module: modelAdvanced,
  title: 'Discrete Model Sampling',
  description: "Says what a model's output means and, with zsnr, that its last noise level holds nothing of the image.",
  inputs: {
    model: link(MODEL),
    sampling: widget(choice(['eps', 'v_prediction', 'lcm', 'x0', 'img_to_img'])),
    zsnr: widget(boolean({ default: false })),
  },
  outputs: [MODEL],
  run: ({ model, sampling, zsnr: zeroTerminalSnr }) => [
    {
      ...model,
      sampling:
        sampling === 'lcm'
          ? distilledSampling({ zeroTerminalSnr })
          : discreteSampling({ prediction: predictions[sampling], zeroTerminalSnr }),
    },
  ],
})
