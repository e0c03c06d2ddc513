import { widget } from '../graph/node.ts'
import { listed } from '../graph/widget.ts'
import { type Catalogue, defineNode, VAE } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'VAELoader',
    category: 'loaders',
    title: 'Autoencoder from File',
    description: 'Opens an autoencoder from a file of its own.',
    inputs: { vae_name: widget(listed(async () => [...(await files('vae')), 'pixel_space'])) },
    outputs: [VAE],
    fingerprint: ({ vae_name }, { models }) => models.version('vae', String(vae_name)),
    async run({ vae_name }, { models }) {
      if (vae_name === 'pixel_space') throw new Error('the VAE pixel_space is not supported: choose a file')
      return [await models.vae(vae_name)]
    },
  })
