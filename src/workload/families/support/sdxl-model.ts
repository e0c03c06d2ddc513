import type { ImageSize } from '../../model/conditioning.ts'
import type { DiffusionModel, InputRequest, LatentFormat, ModelSampling, Network } from '../../model/ports.ts'
import { sdxlColours } from './latent-colours.ts'
import { scaledLatents } from './latent-format.ts'
import { pictureInputs } from './picture-inputs.ts'
import type { Describe } from './size-vector.ts'

/** Pixels a latent cell stands for when the sizes of a picture are told from its latents. */
const CELL = 8

/** A network of SDXL and how it was trained. */
export interface SdxlParts {
  readonly network: Network
  readonly sampling: ModelSampling
  /** What the network is told of the text as a whole and of the picture's sizes. */
  readonly describe: Describe
  /** 4; 9 for inpainting; 8 for networks that follow instructions. */
  readonly inChannels: number
  /** The published one unless another is given. */
  readonly latent?: LatentFormat
  /** Whether instruction networks see their picture in the network's scale. */
  readonly scalesInstructed?: boolean
}

/** SDXL (Podell et al. 2023) around `network`: beside the text it is told the sizes of the picture. */
export function sdxlModel(parts: SdxlParts): DiffusionModel {
  const { network, sampling, describe, latent = scaledLatents(4, 0.13025, sdxlColours) } = parts
  return {
    network,
    sampling,
    latent,
    inputsFor(entry, request) {
      const { width, height, cropW = 0, cropH = 0, ...target } = sizeOf(entry.imageSize, request)
      const { targetWidth = width, targetHeight = height } = target
      const numbers = [height, width, cropH, cropW, targetHeight, targetWidth]
      return {
        context: entry.context,
        ...describe(entry.pooled, numbers),
        ...pictureInputs({ ...parts, latent }, entry, request),
      }
    },
  }
}

/** SDXL's refiner: it is told a beauty score in place of the size aimed at. */
export function refinerModel({ network, sampling, describe }: SdxlParts): DiffusionModel {
  const latent = scaledLatents(4, 0.13025, sdxlColours)
  return {
    network,
    sampling,
    latent,
    inputsFor(entry, request) {
      const { width, height, cropW = 0, cropH = 0 } = sizeOf(entry.imageSize, request)
      const score = entry.aestheticScore ?? (request.negative ? 2.5 : 6)
      return { context: entry.context, ...describe(entry.pooled, [height, width, cropH, cropW, score]) }
    },
  }
}

/** The sizes that were given; the picture's own, where they were not, are those of its latents. */
const sizeOf = (given: ImageSize | undefined, { width, height }: InputRequest) => ({
  ...given,
  width: given?.width ?? width * CELL,
  height: given?.height ?? height * CELL,
})
