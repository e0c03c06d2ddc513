import { WorkloadError } from '../base/errors.ts'
import type { LatentFormat, ModelSampling } from '../model/ports.ts'
import { discreteSampling, edmSampling } from '../sampling/model-sampling.ts'
import { playgroundLatents } from '../sampling/standardised-latents.ts'
import { readStored } from '../weights/safetensors.ts'
import { createSdxlTextEncoder } from './support/clip-text-encoder.ts'
import type { CheckpointWeights, Family } from './support/family.ts'
import { headsOfWidth64 } from './support/heads.ts'
import { createKlVae } from './support/kl-vae.ts'
import { sdxlModel } from './support/sdxl-model.ts'
import { asVector } from './support/size-vector.ts'
import { createUnetNetwork } from './support/unet-network.ts'
import { knownInputs, unetStructure } from './support/unet-structure.ts'

/**
 * SDXL (Podell et al. 2023) and what was distilled from it (Turbo, SSD-1B, Vega, KOALA): three sizes with transformers
 * only below the full one, a vector beside the timestep, CLIP-L and OpenCLIP-G. The refiner has four sizes.
 */
export default {
  name: 'sdxl',
  matches(network) {
    const unet = unetStructure(network)
    if (!unet || unet.temporal || !unet.linearProjection || unet.vectorWidth === undefined) return false
    return unet.levels === 3 && !unet.attendsAtFullSize && knownInputs.includes(unet.inChannels)
  },
  async open({ key, network, text: { l, g }, autoencoder, marks }, services) {
    const { inChannels, vectorWidth } = unetStructure(network)!
    return {
      model: sdxlModel({
        network: createUnetNetwork({ key, view: network, headsOf: headsOfWidth64 }, services),
        describe: asVector(vectorWidth!),
        inChannels,
        ...(await trainingOf(marks)),
      }),
      clip: l && g && createSdxlTextEncoder({ l: { key, view: l }, g: { key, view: g } }, services),
      vae: autoencoder && createKlVae(key, autoencoder, services),
    }
  },
} satisfies Family

interface Training {
  readonly sampling: ModelSampling
  readonly latent?: LatentFormat
  readonly scalesInstructed?: boolean
}

/** How a network was trained, which only tensors beside it tell. */
async function trainingOf(marks: CheckpointWeights['marks']): Promise<Training> {
  if (marks.has('edm_mean') && marks.has('edm_std')) {
    const sampling = edmSampling({ prediction: 'edm', sigmaMin: 0.002, sigmaMax: 80, sigmaData: 0.5 })
    return { sampling, latent: playgroundLatents }
  }
  if (marks.has('edm_vpred.sigma_max')) {
    const sigmaMax = await numberIn(marks, 'edm_vpred.sigma_max')
    const sigmaMin = marks.has('edm_vpred.sigma_min') ? await numberIn(marks, 'edm_vpred.sigma_min') : 0.002
    return { sampling: edmSampling({ prediction: 'v', sigmaMin, sigmaMax, sigmaData: 1 }), scalesInstructed: true }
  }
  const prediction = marks.has('v_pred') ? 'v' : 'eps'
  return { sampling: discreteSampling({ prediction, zeroTerminalSnr: marks.has('v_pred') && marks.has('ztsnr') }) }
}

async function numberIn(marks: CheckpointWeights['marks'], name: string): Promise<number> {
  const [value] = (await readStored(marks.get(name)!, name)).data
  if (value !== undefined && value > 0) return value
  throw new WorkloadError('execution-failed', `the checkpoint's ${name} is no noise level`)
}
