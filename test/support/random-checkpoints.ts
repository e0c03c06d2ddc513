import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { sizeOf, type Tensor, tensor } from '../../src/workload/tensor/tensor.ts'
import {
  autoencoderShapes,
  type ClipPlan,
  clipShapes,
  openClipShapes,
  type Shapes,
  type UnetPlan,
  unetShapes,
} from './network-shapes.ts'
import { writeSafetensors } from './safetensors.ts'

/** Tensors by name. */
export type Weights = Readonly<Record<string, Tensor>>

/** Text encoders at a fraction of their width: CLIP-L, and OpenCLIP-G. */
export const small: ClipPlan = { width: 32, layers: 3 }
export const large: ClipPlan = { width: 64, layers: 3, projected: 48 }
const sd1: UnetPlan = {
  channels: 32,
  widths: [1, 2, 4, 4],
  resBlocks: 2,
  depths: [1, 1, 1, 0],
  middle: 1,
  linear: false,
  context: small.width,
}
const sd2: UnetPlan = { ...sd1, linear: true }
const sdxl: UnetPlan = {
  channels: 32,
  widths: [1, 2, 4],
  resBlocks: 2,
  depths: [0, 1, 2],
  middle: 2,
  linear: true,
  context: small.width + large.width,
  vector: 48 + 6 * 256,
}
const refiner: UnetPlan = {
  ...sdxl,
  widths: [1, 2, 4, 4],
  depths: [0, 1, 1, 0],
  middle: 1,
  context: large.width,
  vector: 48 + 5 * 256,
}

interface Plan {
  readonly family: string
  readonly unet: UnetPlan
  /** Text encoders by the prefix that checkpoints of the kind keep them under. */
  readonly text: Readonly<Record<string, Shapes>>
}

/** What stands before the names of a part in checkpoints. */
export const prefixes = {
  unet: 'model.diffusion_model.',
  vae: 'first_stage_model.',
  text: 'cond_stage_model.transformer.',
  openText: 'cond_stage_model.model.',
  twoTexts: ['conditioner.embedders.0.transformer.', 'conditioner.embedders.1.model.'],
} as const

const oneText = { [prefixes.text]: clipShapes(small) }
const openText = { [prefixes.openText]: openClipShapes({ ...small, projected: 48 }) }
const twoTexts = {
  [prefixes.twoTexts[0]]: clipShapes(small),
  [prefixes.twoTexts[1]]: openClipShapes(large),
}

/** Checkpoints of the full structure of published ones at a fraction of their width. */
export const plans = {
  'SD 1.5': { family: 'sd1', unet: sd1, text: oneText },
  'SD 1.5 inpainting': { family: 'sd1', unet: { ...sd1, inChannels: 9 }, text: oneText },
  InstructPix2Pix: { family: 'sd1', unet: { ...sd1, inChannels: 8 }, text: oneText },
  'SD 2.1': { family: 'sd2', unet: sd2, text: openText },
  'SD 2 inpainting': { family: 'sd2', unet: { ...sd2, inChannels: 9 }, text: openText },
  'SDXL base': { family: 'sdxl', unet: sdxl, text: twoTexts },
  'SDXL inpainting': { family: 'sdxl', unet: { ...sdxl, inChannels: 9 }, text: twoTexts },
  'SSD-1B': { family: 'sdxl', unet: { ...sdxl, middle: -1 }, text: twoTexts },
  KOALA: { family: 'sdxl', unet: { ...sdxl, resBlocks: 1, middle: 'none' }, text: twoTexts },
  'SDXL refiner': {
    family: 'sdxl-refiner',
    unet: refiner,
    text: { 'conditioner.embedders.0.model.': openClipShapes(large) },
  },
} as const satisfies Readonly<Record<string, Plan>>

/** A kind of checkpoint that can be made here. */
export type Kind = keyof typeof plans

/** Weights of `kind`, the same every time, of such sizes that a network's values stay about 1. */
export function randomCheckpoint(kind: Kind): Weights {
  const { unet, text }: Plan = plans[kind]
  return {
    ...randomWeights(unetShapes(unet), prefixes.unet),
    ...Object.assign({}, ...Object.entries(text).map(([prefix, shapes]) => randomWeights(shapes, prefix))),
    ...randomWeights(autoencoderShapes(32), prefixes.vae),
  }
}

/** Weights of these shapes, each named with `prefix` before it and drawn by its name. */
export function randomWeights(shapes: Shapes, prefix = ''): Weights {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, dims]) => [prefix + name, tensor(dims, randomWeight(prefix + name, dims))]),
  )
}

/** Norms about 1, biases about 0, everything else about 1 / √(number of inputs). */
function randomWeight(name: string, dims: readonly number[]): Float32Array {
  const isNorm = dims.length === 1 && name.endsWith('.weight')
  const fan = sizeOf(dims.slice(1))
  const spread = dims.length === 1 ? 0.1 : /token_embedding|position/.test(name) ? 0.5 : Math.sqrt(3 / fan)
  const uniform = uniforms(crc32(name))
  const values = new Float32Array(sizeOf(dims))
  for (let i = 0; i < values.length; i++) values[i] = (isNorm ? 1 : 0) + spread * (2 * uniform() - 1)
  return values
}

/** Numbers from 0 to 1 by a shift register of 32 bits (Marsaglia 2003), which is quick. */
function uniforms(seed: number): () => number {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Writes random checkpoints into a folder, each at the first call for it → their paths. */
export function checkpointWriter(folder: () => string): (kind: Kind) => Promise<string> {
  const written = new Map<Kind, Promise<string>>()
  return (kind) => {
    const file = written.get(kind) ?? writeSafetensors(join(folder(), fileNameOf(kind)), randomCheckpoint(kind))
    written.set(kind, file)
    return file
  }
}

/** What the checkpoint of `kind` is called. */
export const fileNameOf = (kind: Kind): string => `${kind.toLowerCase().replaceAll(' ', '-')}.safetensors`
