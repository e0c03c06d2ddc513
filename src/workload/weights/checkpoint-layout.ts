import type { SafetensorsFile } from './safetensors.ts'
import { viewOf, viewThrough, type WeightView } from './weight-view.ts'

/** Where checkpoints keep the diffusion network; the one with most tensors is it. */
const networkPrefixes = ['model.diffusion_model.', 'model.model.', 'net.']

/** The diffusion network's weights, or undefined when the file has none. */
export function networkView(file: SafetensorsFile): WeightView | undefined {
  const views = networkPrefixes.map((prefix) => viewOf(file, prefix))
  const [most] = views.toSorted((a, b) => b.names.length - a.names.length)
  return most && most.names.length > 5 ? most : undefined
}

/** The KL autoencoder's weights, of a checkpoint or of a file of its own, or undefined. */
export function autoencoderView(file: SafetensorsFile): WeightView | undefined {
  return ['first_stage_model.', 'vae.', '']
    .map((prefix) => viewOf(file, prefix))
    .find((view) => view.has('decoder.conv_in.weight'))
}

/**
 * A CLIP text transformer in the Hugging Face layout below `prefix`, under the names behind `text_model.` (which the
 * oldest checkpoints leave out), with `text_projection.weight` beside them; or undefined.
 */
export function clipTextView(file: SafetensorsFile, prefix: string): WeightView | undefined {
  const names = new Map<string, string>()
  for (const name of file.tensors.keys())
    if (name.startsWith(prefix)) names.set(name.slice(prefix.length).replace(/^text_model\./, ''), name)
  return names.has('embeddings.token_embedding.weight') ? viewThrough(file, names) : undefined
}
