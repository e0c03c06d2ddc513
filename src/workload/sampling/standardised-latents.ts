import type { LatentFormat } from '../model/ports.ts'
import { mapped, type Tensor } from '../tensor/tensor.ts'

/** Latents that the network sees with the mean taken off each channel and its deviation brought to `deviation`. */
export function standardisedLatents(
  means: readonly number[],
  deviations: readonly number[],
  deviation: number,
): LatentFormat {
  const perChannel = ({ dims, data }: Tensor, f: (value: number, channel: number) => number) => {
    const area = data.length / (dims[0]! * dims[1]!)
    return mapped({ dims, data }, (value, i) => f(value, Math.floor(i / area) % means.length))
  }
  return {
    channels: means.length,
    processIn: (latent) => perChannel(latent, (value, c) => ((value - means[c]!) * deviation) / deviations[c]!),
    processOut: (latent) => perChannel(latent, (value, c) => (value * deviations[c]!) / deviation + means[c]!),
  }
}

/** Playground 2.5's latents (Li et al. 2024), in the colours of ComfyUI's previews. */
export const playgroundLatents: LatentFormat = {
  ...standardisedLatents([-1.6574, 1.886, -1.383, 2.5155], [8.4927, 5.9022, 6.5498, 5.2299], 0.5),
  colours: {
    factors: [
      [0.392, 0.4054, 0.4549],
      [-0.2634, -0.0196, 0.0653],
      [0.0568, 0.1687, -0.0755],
      [-0.3112, -0.2359, -0.2076],
    ],
  },
}
