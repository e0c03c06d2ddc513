import type { SafetensorsFile, StoredTensor } from './safetensors.ts'
import { viewOver, type Weight, type WeightView } from './weight-view.ts'

/** OpenCLIP's names of what stands outside of its blocks, and the Hugging Face ones. */
const outside: Readonly<Record<string, string>> = {
  positional_embedding: 'embeddings.position_embedding.weight',
  'token_embedding.weight': 'embeddings.token_embedding.weight',
  'ln_final.weight': 'final_layer_norm.weight',
  'ln_final.bias': 'final_layer_norm.bias',
  text_projection: 'text_projection',
  'text_projection.weight': 'text_projection.weight',
}

/** The same within a block. */
const inside: Readonly<Record<string, string>> = {
  ln_1: 'layer_norm1',
  ln_2: 'layer_norm2',
  'mlp.c_fc': 'mlp.fc1',
  'mlp.c_proj': 'mlp.fc2',
  'attn.out_proj': 'self_attn.out_proj',
}

const BLOCK = /^transformer\.resblocks\.(\d+)\.(.+?)[._](weight|bias)$/

/**
 * A CLIP text transformer in OpenCLIP's layout below `prefix` under the Hugging Face names behind `text_model.`, or
 * undefined. Queries, keys and values are thirds of one stored tensor. The projection keeps its name `text_projection`
 * because it lies there transposed, `[C, P]`.
 */
export function openClipView(file: SafetensorsFile, prefix: string): WeightView | undefined {
  if (!file.tensors.has(`${prefix}transformer.resblocks.0.ln_1.weight`)) return undefined
  const weights = new Map<string, Weight>()
  for (const [name, stored] of file.tensors) {
    if (!name.startsWith(prefix)) continue
    for (const [known, part] of partsOf(name.slice(prefix.length), stored)) weights.set(known, part)
  }
  return viewOver(weights, file.path)
}

/** What one stored tensor holds, by the names it is known under; nothing when it is no part of the text transformer. */
function partsOf(name: string, stored: StoredTensor): readonly (readonly [name: string, part: StoredTensor])[] {
  const alone = outside[name]
  if (alone) return [[alone, stored]]
  const [, layer, part = '', kind] = BLOCK.exec(name) ?? []
  const key = `encoder.layers.${layer}`
  if (part === 'attn.in_proj')
    return ['q', 'k', 'v'].map((each, i) => [`${key}.self_attn.${each}_proj.${kind}`, third(stored, i)])
  const known = inside[part]
  return known ? [[`${key}.${known}.${kind}`, stored]] : []
}

/** The rows of `[3C, …]` from `i·C` on. */
function third({ path, dtype, dims: [rows = 0, ...rest], offset, length }: StoredTensor, i: number): StoredTensor {
  return { path, dtype, dims: [rows / 3, ...rest], offset: offset + (i * length) / 3, length: length / 3 }
}
