import { autoencoderView, clipTextView, networkView } from '../../weights/checkpoint-layout.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import type { CheckpointWeights } from './family.ts'

/** What identifies the contents of `file` among all files. */
export const keyOf = ({ path, version }: SafetensorsFile): string => `${path} ${version}`

/** The parts of a checkpoint in one file, or undefined when it has no LDM network. */
export function checkpointWeights(file: SafetensorsFile): CheckpointWeights | undefined {
  const network = networkView(file)
  if (!network?.has('input_blocks.0.0.weight')) return undefined
  return {
    key: keyOf(file),
    network,
    text: { l: clipTextView(file, 'cond_stage_model.transformer.') },
    autoencoder: autoencoderView(file),
    marks: new Set([...file.tensors.keys()].filter((name) => !name.includes('.'))),
  }
}
