import { networkView } from '../../weights/checkpoint-layout.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { unetStructure } from './unet-structure.ts'

/** Tensors by whose names other kinds of models are known, and what they are. */
const kinds: readonly (readonly [name: string, kind: string])[] = [
  ['cc_projection.weight', 'a Zero123 network'],
  ['joint_blocks.0.context_block.attn.qkv.weight', 'a Stable Diffusion 3 network (MMDiT)'],
  ['clf.1.weight', 'a Stable Cascade network'],
  ['double_layers.0.attn.w1q.weight', 'an AuraFlow network'],
  ['mlp_t5.0.weight', 'a HunyuanDiT network'],
  ['double_blocks.0.img_attn.norm.key_norm.scale', 'a network of the Flux kind'],
  ['transformer_blocks.0.attn.norm_added_k.weight', 'a diffusion transformer in the layout of diffusers'],
  ['adaln_single.linear.weight', 'a PixArt network'],
]

/** Parts that do not make a checkpoint by themselves. */
const parts: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/^(control_model\.|controlnet_|input_hint_block\.)/, 'a control network'],
  [/(\.lora_(up|down|A|B)\.|^lora_(unet|te))/, 'a LoRA'],
  [/(^|\.)(text_model\.)?embeddings\.token_embedding\.weight$/, 'a text encoder'],
  [/(^|\.)token_embedding\.weight$/, 'a text encoder'],
  [/(^|\.)decoder\.conv_in\.weight$/, 'an autoencoder'],
]

/** The kind of model that `file` holds when it is one that no family here may take for its own; else undefined. */
export function foreignKind({ tensors }: SafetensorsFile): string | undefined {
  const names = [...tensors.keys()]
  return kinds.find(([key]) => names.some((name) => name === key || name.endsWith(`.${key}`)))?.[1]
}

/** What can be told of a file that nothing recognises. */
export function describeFile(file: SafetensorsFile): string {
  const names = [...file.tensors.keys()]
  const part = () => parts.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1]
  return (
    foreignKind(file) ??
    describeUnet(file) ??
    part() ??
    `${names.length} tensors${names.length > 0 ? `, the first ${names.slice(0, 3).join(', ')}` : ''}`
  )
}

function describeUnet(file: SafetensorsFile): string | undefined {
  const network = networkView(file)
  const unet = network && unetStructure(network)
  if (!unet) return undefined
  if (unet.temporal) return 'a UNet for films (Stable Video Diffusion)'
  if (unet.inChannels === 7) return 'a UNet that enlarges pictures (SD x4 upscaler)'
  if (unet.inChannels === 5) return 'a UNet that takes a depth map (Stable Diffusion 2 depth)'
  if (unet.vectorWidth !== undefined && unet.attendsAtFullSize) return 'a UNet that takes a picture vector (unCLIP)'
  return `a UNet of ${unet.modelChannels} channels over ${unet.inChannels} input channels, of ${unet.levels} sizes`
}
