import { widget } from '../graph/node.ts'
import { fileOf } from '../graph/widget.ts'
import { type Catalogue, defineNode, VAE } from './support/define.ts'
import { tinyFiles, tinyNames } from './support/tiny-autoencoders.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'VAELoader',
    category: 'loaders',
    title: 'Autoencoder from File',
    description:
      'Opens an autoencoder from a file of its own, or a tiny one (TAESD) whose two halves lie in vae_approx.',
    inputs: {
      vae_name: widget(
        fileOf('vae', async (own) => [...(await files(own)), ...tinyNames(await files('vae_approx')), 'pixel_space']),
      ),
    },
    outputs: [VAE],
    async fingerprint({ vae_name }, { models }) {
      const tiny = tinyFiles(String(vae_name), await files('vae_approx'))
      if (tiny.length === 0) return models.version('vae', String(vae_name))
      return (await Promise.all(tiny.map((file) => models.version('vae_approx', file)))).join(' ')
    },
    async run({ vae_name }, { models }) {
      if (vae_name === 'pixel_space') throw new Error('the VAE pixel_space is not supported: choose a file')
      return [await models.vae(vae_name)]
    },
  })
