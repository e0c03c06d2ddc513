import { ldmUnet } from './diffusers-unet.ts'
import { ldmAutoencoder } from './diffusers-vae.ts'
import { openClipView } from './openclip-layout.ts'
import type { SafetensorsFile } from './safetensors.ts'
import { viewOf, viewThrough, type WeightView } from './weight-view.ts'

/** Where checkpoints keep the diffusion network; the one with most tensors is it. */
const networkPrefixes = ['model.diffusion_model.', 'model.model.', 'net.']

/** Where the network lies if at none of these: files that hold nothing else. */
const rarerPrefixes = ['model.', 'unet.', '']

/** The diffusion network's weights under LDM names or whatever names the file has, or undefined when it has none. */
export function networkView(file: SafetensorsFile): WeightView | undefined {
  const views = networkPrefixes.map((prefix) => viewOf(file, prefix))
  const [most] = views.toSorted((a, b) => b.names.length - a.names.length)
  if (most && most.names.length > 5) return ldmUnet(most)
  return rarerPrefixes
    .map((prefix) => ldmUnet(viewOf(file, prefix)))
    .find((view) => view.has('input_blocks.0.0.weight'))
}

/** The KL autoencoder's weights under LDM names, of a checkpoint or of a file of its own, or undefined. */
export function autoencoderView(file: SafetensorsFile): WeightView | undefined {
  return ['first_stage_model.', 'vae.', '']
    .map((prefix) => ldmAutoencoder(viewOf(file, prefix)))
    .find((view) => view.has('decoder.conv_in.weight'))
}

/**
 * A CLIP text transformer below `prefix`, stored in the Hugging Face layout or in OpenCLIP's, under the Hugging Face
 * names behind `text_model.` (which the oldest checkpoints leave out); beside them `text_projection.weight` `[P, C]` or
 * the transposed `text_projection` `[C, P]`. Undefined when there is none.
 */
export function clipTextView(file: SafetensorsFile, prefix: string): WeightView | undefined {
  const names = new Map<string, string>()
  for (const name of file.tensors.keys())
    if (name.startsWith(prefix)) names.set(name.slice(prefix.length).replace(/^text_model\./, ''), name)
  if (names.has('embeddings.token_embedding.weight')) return viewThrough(file, names)
  return openClipView(file, prefix)
}
