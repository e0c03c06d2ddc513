import { autoencoderView, clipTextView, networkView } from '../../weights/checkpoint-layout.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import type { Weight, WeightView } from '../../weights/weight-view.ts'
import type { CheckpointWeights, TextWeights } from './family.ts'

/** What identifies the contents of `file` among all files. */
export const keyOf = ({ path, version }: SafetensorsFile): string => `${path} ${version}`

/** The parts of a checkpoint in one file, or undefined when it has no LDM network. */
export function checkpointWeights(file: SafetensorsFile): CheckpointWeights | undefined {
  const network = networkView(file)
  if (!network?.has('input_blocks.0.0.weight')) return undefined
  return {
    key: keyOf(file),
    network,
    text: textIn(file),
    autoencoder: autoencoderView(file),
    marks: marksOf(file),
  }
}

/**
 * The text transformers at the places where checkpoints have them. A lone one in Stability's later layout is H in
 * Stable Diffusion 2 and G in SDXL's refiner: it is given as both, for a family takes the one it knows.
 */
function textIn(file: SafetensorsFile): TextWeights {
  const at = (...prefixes: readonly string[]): WeightView | undefined =>
    prefixes.map((prefix) => clipTextView(file, prefix)).find((view) => view !== undefined)
  return {
    l: at('cond_stage_model.transformer.', 'conditioner.embedders.0.transformer.'),
    g: at('conditioner.embedders.1.model.', 'conditioner.embedders.0.model.'),
    h: at('cond_stage_model.model.', 'conditioner.embedders.0.model.'),
  }
}

/** Tensors outside of every part: those with a plain name, and those of a group that is no part. */
function marksOf({ tensors }: SafetensorsFile): ReadonlyMap<string, Weight> {
  return new Map([...tensors].filter(([name]) => !name.includes('.') || name.startsWith('edm_vpred.')))
}
