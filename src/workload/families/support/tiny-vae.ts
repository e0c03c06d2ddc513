import { TAESD_DOWNSCALE, taesdChannels, taesdDecoderGraph, taesdEncoderGraph } from '../../architectures/taesd.ts'
import type { Vae } from '../../model/ports.ts'
import { mapped, scaled } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'
import { createVae, toPixels } from './vae.ts'

/** The weights of a tiny autoencoder and the scale of the latents it was trained on. */
export interface TinyVaeParts {
  /** Equal keys share sessions. */
  readonly key: string
  readonly encoder: WeightView
  readonly decoder: WeightView
  /** Autoencoder's scale → the one it works in: (z - shift) · scale. */
  readonly scale: number
  readonly shift: number
}

/** TAESD: an autoencoder of a few megabytes that works on latents in the diffusion network's scale. */
export function createTinyVae({ key, encoder, decoder, scale, shift }: TinyVaeParts, services: FamilyServices): Vae {
  const session = (name: string, view: WeightView, build: typeof taesdDecoderGraph) =>
    services.runtime.session({
      key: `${name} ${key}`,
      weightBytes: bytesOf(view),
      build: () => sourceOf(build(view, services.lower.autoencoder)),
    })
  const decoding = session('taesd decoder', decoder, taesdDecoderGraph)
  const encoding = session('taesd encoder', encoder, taesdEncoderGraph)
  return createVae({
    downscale: TAESD_DOWNSCALE,
    channels: taesdChannels(decoder),
    async decode(latents) {
      const { decoded } = await decoding.run({ latents: mapped(latents, (z) => (z - shift) * scale) })
      const signed = mapped(decoded!, (value) => (value - 0.5) * 2)
      return { decoded: signed, pixels: toPixels(signed) }
    },
    async encode(pixels) {
      const { latents } = await encoding.run({ pixels: mapped(pixels, (value) => value * 0.5 + 0.5) })
      return mapped(scaled(latents!, 1 / scale), (z) => z + shift)
    },
  })
}
