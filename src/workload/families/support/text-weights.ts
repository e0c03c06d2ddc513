import { clipTextView } from '../../weights/checkpoint-layout.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { countOf } from '../../weights/weight-view.ts'
import type { TextWeights } from './family.ts'

/**
 * The CLIP text transformer below `prefix` of a file, in either layout, as the one that its number of layers tells it
 * to be: CLIP-L has 12, OpenCLIP-H 24 and OpenCLIP-G 32. Empty when there is none.
 */
export function textWeightsOf(file: SafetensorsFile, prefix = ''): TextWeights {
  const view = clipTextView(file, prefix)
  if (!view) return {}
  const layers = countOf(view, 'encoder.layers.')
  if (layers > 30) return { g: view }
  return layers > 22 ? { h: view } : { l: view }
}
