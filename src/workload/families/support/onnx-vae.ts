import { WorkloadError } from '../../base/errors.ts'
import type { Vae } from '../../model/ports.ts'
import type { Session } from '../../runtime/session.ts'
import { slicedAlong } from '../../tensor/axes.ts'
import { createVae, toPixels } from './vae.ts'

/** The halves of an autoencoder that was exported as ONNX under diffusers' names. */
export interface OnnxVaeParts {
  readonly decoder: Session
  readonly encoder: Session | undefined
  /** Pixels a latent cell, along each side. */
  readonly downscale: number
  readonly channels: number
  /** For errors. */
  readonly name: string
}

/** An autoencoder of exported halves; an encoder that gives mean and variance is read for its mean. */
export function createOnnxVae({ decoder, encoder, downscale, channels, name }: OnnxVaeParts): Vae {
  const missing = (what: string) => new WorkloadError('execution-failed', `${name} has no ${what}`)
  return createVae({
    downscale,
    channels,
    async decode(latents) {
      const { sample } = await decoder.run({ latent_sample: latents })
      if (sample) return { decoded: sample, pixels: toPixels(sample) }
      throw missing('output sample in vae_decoder/model.onnx')
    },
    async encode(pixels) {
      if (!encoder) throw missing('vae_encoder/model.onnx')
      const { latent_parameters, latent_sample } = await encoder.run({ sample: pixels })
      const latents = latent_parameters ?? latent_sample
      if (latents) return slicedAlong(latents, 1, 0, channels)
      throw missing('output latent_parameters in vae_encoder/model.onnx')
    },
  })
}
