import { decoderGraph, encoderGraph, readAutoencoderConfig } from '../../architectures/autoencoder-kl.ts'
import type { Vae } from '../../model/ports.ts'
import { tensor } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'
import { createVae } from './vae.ts'

/** A KL autoencoder; equal keys share sessions. */
export function createKlVae(key: string, view: WeightView, { runtime, lower }: FamilyServices): Vae {
  const { latentChannels, downscale } = readAutoencoderConfig(view)
  const part = (name: string, build: typeof decoderGraph) =>
    runtime.session({
      key: `${name} ${key}`,
      weightBytes: bytesOf(view) / 2,
      build: () => sourceOf(build(view, lower.autoencoder)),
    })
  const decoder = part('vae decoder', decoderGraph)
  const encoder = part('vae encoder', encoderGraph)
  return createVae({
    downscale,
    channels: latentChannels,
    async decode(latents) {
      const { decoded, pixels } = await decoder.run({ latents })
      return { decoded: decoded!, pixels: pixels! }
    },
    async encode(pixels) {
      const { moments } = await encoder.run({ pixels })
      const { dims, data } = moments!
      return tensor([1, latentChannels, dims[2]!, dims[3]!], data.subarray(0, data.length / 2))
    },
  })
}
