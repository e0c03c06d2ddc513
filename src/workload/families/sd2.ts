import { discreteSampling } from '../sampling/model-sampling.ts'
import { readStored } from '../weights/safetensors.ts'
import type { WeightView } from '../weights/weight-view.ts'
import { createSd2TextEncoder } from './support/clip-text-encoder.ts'
import type { Family } from './support/family.ts'
import { headsOfWidth64 } from './support/heads.ts'
import { createKlVae } from './support/kl-vae.ts'
import { sdModel } from './support/sd-model.ts'
import { createUnetNetwork } from './support/unet-network.ts'
import { INPAINTING_CHANNELS, unetStructure } from './support/unet-structure.ts'

/**
 * Stable Diffusion 2.x, its inpainting network and SD-Turbo: a UNet that projects with linear layers and takes nothing
 * beside the text, heads of 64 channels, OpenCLIP-H. A vector beside the timestep would make it SDXL or unCLIP.
 */
export default {
  name: 'sd2',
  matches(network) {
    const unet = unetStructure(network)
    if (!unet || unet.temporal || !unet.linearProjection || unet.vectorWidth !== undefined) return false
    return [4, INPAINTING_CHANNELS].includes(unet.inChannels)
  },
  async open({ key, network, text: { h }, autoencoder }, services) {
    const { inChannels } = unetStructure(network)!
    const prediction = inChannels === 4 && (await predictsVelocity(network)) ? 'v' : 'eps'
    return {
      model: sdModel({
        network: createUnetNetwork({ key, view: network, headsOf: headsOfWidth64 }, services),
        sampling: discreteSampling({ prediction }),
        inChannels,
      }),
      clip: h && createSd2TextEncoder({ key, view: h }, services),
      vae: autoencoder && createKlVae(key, autoencoder, services),
    }
  },
} satisfies Family

/** The bias of the last transformer's first norm, which training towards v spreads and training towards ε does not. */
const TELLING = 'output_blocks.11.1.transformer_blocks.0.norm1.bias'

/** Above this standard deviation of it the network was trained towards v: nothing else in the file says so. */
const SPREAD = 0.09

async function predictsVelocity(network: WeightView): Promise<boolean> {
  if (!network.has(TELLING)) return false
  const { data } = await readStored(network.get(TELLING), TELLING)
  const mean = data.reduce((sum, value) => sum + value, 0) / data.length
  return Math.sqrt(data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length) > SPREAD
}
