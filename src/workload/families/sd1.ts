import { readUnetConfig } from '../architectures/unet.ts'
import { discreteSampling } from '../sampling/model-sampling.ts'
import { autoencoderView, clipTextView, networkView } from '../weights/checkpoint-layout.ts'
import { createClipTextEncoder } from './support/clip-text-encoder.ts'
import { END } from './support/clip-vocabulary.ts'
import type { Family } from './support/family.ts'
import { createKlVae } from './support/kl-vae.ts'
import { scaledLatents } from './support/latent-format.ts'
import { createUnetModel } from './support/unet-model.ts'

/** Stable Diffusion 1.x: a UNet that projects with 1×1 convolutions, eight heads everywhere, CLIP-L's last layer. */
export default {
  name: 'sd1',
  matches(file) {
    const view = networkView(file)
    if (!view?.has('input_blocks.0.0.weight')) return false
    const { inChannels, contextWidth, vectorWidth, linearProjection } = readUnetConfig(view)
    return inChannels === 4 && contextWidth !== undefined && vectorWidth === undefined && !linearProjection
  },
  open(file, services) {
    const text = clipTextView(file, 'cond_stage_model.transformer.')
    const autoencoder = autoencoderView(file)
    return {
      model: createUnetModel(
        {
          file,
          view: networkView(file)!, // `matches` has seen it
          sampling: discreteSampling({ prediction: 'eps' }),
          latent: scaledLatents(4, 0.18215),
          headsOf: () => 8,
          inputsFor: ({ context }) => ({ context }),
        },
        services,
      ),
      clip:
        text && createClipTextEncoder({ file, view: text, key: 'clip_l', activation: 'quickGelu', pad: END }, services),
      vae: autoencoder && createKlVae(file, autoencoder, services),
    }
  },
} satisfies Family
