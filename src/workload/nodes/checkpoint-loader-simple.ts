import { widget } from '../graph/node.ts'
import { fileOf } from '../graph/widget.ts'
import { type Catalogue, CLIP, defineNode, MODEL, VAE } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'CheckpointLoaderSimple',
    category: 'loaders',
    title: 'Checkpoint',
    description: 'Opens a checkpoint file: its diffusion model, its text encoder and its autoencoder.',
    inputs: { ckpt_name: widget(fileOf('checkpoints', files)) },
    outputs: [MODEL, CLIP, VAE],
    fingerprint: ({ ckpt_name }, { models }) => models.version('checkpoints', String(ckpt_name)),
    async run({ ckpt_name }, { models }) {
      const { model, clip, vae } = await models.checkpoint(ckpt_name)
      return [model, clip, vae]
    },
  })
