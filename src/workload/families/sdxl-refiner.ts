import { discreteSampling } from '../sampling/model-sampling.ts'
import { createRefinerTextEncoder } from './support/clip-text-encoder.ts'
import type { Family } from './support/family.ts'
import { headsOfWidth64 } from './support/heads.ts'
import { createKlVae } from './support/kl-vae.ts'
import { refinerModel } from './support/sdxl-model.ts'
import { asVector } from './support/size-vector.ts'
import { createUnetNetwork } from './support/unet-network.ts'
import { unetStructure } from './support/unet-structure.ts'

/**
 * The refiner of SDXL: four sizes, transformers neither at the full one nor at the smallest, a vector beside the
 * timestep, OpenCLIP-G alone. (unCLIP networks are much alike but have transformers at the full size.)
 */
export default {
  name: 'sdxl-refiner',
  matches(network) {
    const unet = unetStructure(network)
    if (!unet || unet.temporal || !unet.linearProjection || unet.vectorWidth === undefined) return false
    return unet.levels === 4 && !unet.attendsAtFullSize && unet.inChannels === 4
  },
  open({ key, network, text: { g }, autoencoder }, services) {
    const { inChannels, vectorWidth } = unetStructure(network)!
    return {
      model: refinerModel({
        network: createUnetNetwork({ key, view: network, headsOf: headsOfWidth64 }, services),
        sampling: discreteSampling({ prediction: 'eps' }),
        describe: asVector(vectorWidth!),
        inChannels,
      }),
      clip: g && createRefinerTextEncoder({ key, view: g }, services),
      vae: autoencoder && createKlVae(key, autoencoder, services),
    }
  },
} satisfies Family
