import {
  autoencoderShapes,
  type ClipPlan,
  clipShapes,
  openClipShapes,
  type Shapes,
  type UnetPlan,
  unetShapes,
} from './network-shapes.ts'
import { large, plans, prefixes, randomWeights, small, type Weights } from './random-checkpoints.ts'

/** Their numbers of layers tell them apart. */
const h: ClipPlan = { ...small, layers: 24 }
const g: ClipPlan = { ...large, layers: 31 }

const sd1: UnetPlan = { ...plans['SD 1.5'].unet, widths: [1, 2], resBlocks: 1, depths: [1, 0] }
const sd2: UnetPlan = { ...sd1, linear: true }
const sdxl: UnetPlan = { ...plans['SDXL base'].unet, widths: [1, 1, 2], resBlocks: 1, depths: [0, 1, 1], middle: 1 }

/** The parts of a model of which little but the structure is left, under LDM names. */
export interface TinyModel {
  readonly unet: UnetPlan
  /** CLIP-L or, for Stable Diffusion 2, OpenCLIP-H. */
  readonly text: ClipPlan
  /** OpenCLIP-G, where there is one. */
  readonly text2?: ClipPlan
}

/** Models of a family each, for tests that need no published structure but many sessions. */
export const tinyModels = {
  sd1: { unet: sd1, text: small },
  sd2: { unet: sd2, text: h },
  sdxl: { unet: sdxl, text: small, text2: g },
} as const satisfies Readonly<Record<string, TinyModel>>

export type TinyKind = keyof typeof tinyModels

/** The weights of the parts of a tiny model; text encoders as checkpoints of the family have them. */
export interface TinyWeights {
  readonly unet: Weights
  readonly vae: Weights
  readonly text: Weights
  readonly text2?: Weights
}

export function tinyWeights(kind: TinyKind): TinyWeights {
  const { unet, text, text2 }: TinyModel = tinyModels[kind]
  const shapes: Shapes = kind === 'sd2' ? openClipShapes(text) : clipShapes(text)
  return {
    unet: randomWeights(unetShapes(unet)),
    vae: randomWeights(autoencoderShapes(32)),
    text: randomWeights(shapes),
    ...(text2 && { text2: randomWeights(openClipShapes(text2)) }),
  }
}

const textPrefixes: Readonly<Record<TinyKind, readonly string[]>> = {
  sd1: [prefixes.text],
  sd2: [prefixes.openText],
  sdxl: prefixes.twoTexts,
}

/** `parts` as one checkpoint. */
export function tinyCheckpoint(kind: TinyKind, { unet, vae, text, text2 = {} }: TinyWeights): Weights {
  const [first, second = ''] = textPrefixes[kind]
  const prefixed = (prefix = '', weights: Weights) =>
    Object.entries(weights).map(([name, t]) => [prefix + name, t] as const)
  return Object.fromEntries([
    ...prefixed(prefixes.unet, unet),
    ...prefixed(prefixes.vae, vae),
    ...prefixed(first, text),
    ...prefixed(second, text2),
  ])
}
