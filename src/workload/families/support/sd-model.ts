import type { DiffusionModel, LatentColours, ModelSampling, Network } from '../../model/ports.ts'
import { sdColours } from './latent-colours.ts'
import { scaledLatents } from './latent-format.ts'
import { pictureInputs } from './picture-inputs.ts'

/** A network of Stable Diffusion 1 or 2 and how it was trained. */
export interface SdParts {
  readonly network: Network
  readonly sampling: ModelSampling
  /** 4; 9 for inpainting; 8 for networks that follow instructions. */
  readonly inChannels: number
  /** The published ones unless others are given. */
  readonly colours?: LatentColours | undefined
}

/** Stable Diffusion 1 or 2 around `network`: the text is all it takes, and pictures where it has inputs for them. */
export function sdModel({ network, sampling, inChannels, colours = sdColours }: SdParts): DiffusionModel {
  const latent = scaledLatents(4, 0.18215, colours)
  return {
    network,
    sampling,
    latent,
    inputsFor: (entry, request) => ({
      context: entry.context,
      ...pictureInputs({ inChannels, latent }, entry, request),
    }),
  }
}
