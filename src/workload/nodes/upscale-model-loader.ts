import { widget } from '../graph/node.ts'
import { fileOf } from '../graph/widget.ts'
import { type Catalogue, defineNode, UPSCALE_MODEL } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'UpscaleModelLoader',
    module: 'comfy_extras.nodes_upscale_model',
    category: 'loaders',
    title: 'Enlarging Network',
    description: 'Opens a network that enlarges pictures: ESRGAN, Real-ESRGAN or its compact kind.',
    inputs: {
      model_name: widget({ ...fileOf('upscale_models', files, { multiselect: false }), named: true }),
    },
    outputs: [UPSCALE_MODEL],
    fingerprint: ({ model_name }, { models }) => models.version('upscale_models', String(model_name)),
    run: async ({ model_name }, { models }) => [await models.upscaler(model_name)],
  })
