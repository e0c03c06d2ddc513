import { readUnetConfig } from '../architectures/unet.ts'
import { discreteSampling } from '../sampling/model-sampling.ts'
import { createClipTextEncoder } from './support/clip-text-encoder.ts'
import { END } from './support/clip-vocabulary.ts'
import type { Family } from './support/family.ts'
import { createKlVae } from './support/kl-vae.ts'
import { scaledLatents } from './support/latent-format.ts'
import { createUnetNetwork } from './support/unet-network.ts'

/** Stable Diffusion 1.x: a UNet that projects with 1×1 convolutions, eight heads everywhere, CLIP-L's last layer. */
export default {
  name: 'sd1',
  matches(network) {
    const { inChannels, contextWidth, vectorWidth, linearProjection } = readUnetConfig(network)
    return inChannels === 4 && contextWidth !== undefined && vectorWidth === undefined && !linearProjection
  },
  open({ key, network, text: { l }, autoencoder }, services) {
    return {
      model: {
        network: createUnetNetwork({ key, view: network, headsOf: () => 8 }, services),
        sampling: discreteSampling({ prediction: 'eps' }),
        latent: scaledLatents(4, 0.18215),
        inputsFor: ({ context }) => ({ context }),
      },
      clip:
        l && createClipTextEncoder({ key, view: l, encoder: 'clip_l', activation: 'quickGelu', pad: END }, services),
      vae: autoencoder && createKlVae(key, autoencoder, services),
    }
  },
} satisfies Family
