import { widget } from '../graph/node.ts'
import { fileOf } from '../graph/widget.ts'
import { type Catalogue, CLIP, defineNode, MODEL, VAE } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'DiffusersLoader',
    category: 'advanced/loaders/deprecated',
    title: 'Diffusers Folder',
    description:
      'Opens a model that is a folder in the layout of diffusers, with networks in safetensors or in ONNX: its ' +
      'diffusion model, its text encoder and its autoencoder.',
    inputs: { model_path: widget(fileOf('diffusers', files)) },
    outputs: [MODEL, CLIP, VAE],
    fingerprint: ({ model_path }, { models }) => models.version('diffusers', String(model_path)),
    async run({ model_path }, { models }) {
      const { model, clip, vae } = await models.diffusers(model_path)
      return [model, clip, vae]
    },
  })
