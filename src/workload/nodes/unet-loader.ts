import { widget } from '../graph/node.ts'
import { choice, fileOf } from '../graph/widget.ts'
import { type Catalogue, defineNode, MODEL } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'UNETLoader',
    category: 'advanced/loaders',
    title: 'Diffusion Model from File',
    description:
      'Opens a diffusion network from a file of its own. Its weights are used as they are stored: the types of ' +
      'weight_dtype that would round them to eight bits are refused.',
    inputs: {
      unet_name: widget(fileOf('diffusion_models', files)),
      weight_dtype: widget(choice(['default', 'fp8_e4m3fn', 'fp8_e4m3fn_fast', 'fp8_e5m2'])),
    },
    outputs: [MODEL],
    fingerprint: ({ unet_name }, { models }) => models.version('diffusion_models', String(unet_name)),
    async run({ unet_name, weight_dtype }, { models }) {
      if (weight_dtype !== 'default')
        throw new Error(`the weight_dtype ${weight_dtype} is not supported: choose default`)
      return [await models.diffusionModel(unet_name)]
    },
  })
