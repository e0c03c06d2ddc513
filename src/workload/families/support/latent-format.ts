import type { LatentColours, LatentFormat } from '../../model/ports.ts'
import { scaled } from '../../tensor/tensor.ts'

/** Latents that the network sees multiplied by `factor`, which brings them to unit variance. */
export function scaledLatents(channels: number, factor: number, colours: LatentColours | undefined): LatentFormat {
  return {
    channels,
    colours,
    processIn: (latent) => scaled(latent, factor),
    processOut: (latent) => scaled(latent, 1 / factor),
  }
}
