import { discreteSampling } from '../sampling/model-sampling.ts'
import { createSd1TextEncoder } from './support/clip-text-encoder.ts'
import type { Family } from './support/family.ts'
import { createKlVae } from './support/kl-vae.ts'
import { coloursIn } from './support/latent-colours.ts'
import { sdModel } from './support/sd-model.ts'
import { createUnetNetwork } from './support/unet-network.ts'
import { knownInputs, unetStructure } from './support/unet-structure.ts'

/**
 * Stable Diffusion 1.x, its inpainting and instruction networks and what was distilled from it (LCM, BK-SDM): a UNet
 * that projects with 1×1 convolutions, eight heads everywhere, CLIP-L's last layer. No other family projects so.
 */
export default {
  name: 'sd1',
  matches(network) {
    const unet = unetStructure(network)
    if (!unet || unet.temporal || unet.linearProjection || unet.vectorWidth !== undefined) return false
    return unet.contextWidth !== undefined && knownInputs.includes(unet.inChannels)
  },
  async open({ key, network, text: { l }, autoencoder, marks }, services) {
    return {
      model: sdModel({
        network: createUnetNetwork({ key, view: network, headsOf: () => 8 }, services),
        sampling: discreteSampling({ prediction: 'eps' }),
        inChannels: unetStructure(network)!.inChannels,
        colours: await coloursIn(marks),
      }),
      clip: l && createSd1TextEncoder({ key, view: l }, services),
      vae: autoencoder && createKlVae(key, autoencoder, services),
    }
  },
} satisfies Family
