import {
  autoencoderShapes,
  type ClipPlan,
  clipShapes,
  openClipShapes,
  type Shapes,
  type UnetPlan,
  unetShapes,
} from './network-shapes.ts'
import { randomWeights, type Weights } from './random-checkpoints.ts'

const l: ClipPlan = { width: 32, layers: 3 }
/** Its number of layers tells it apart. */
const h: ClipPlan = { width: 32, layers: 24 }
const g: ClipPlan = { width: 64, layers: 31, projected: 48 }

const sd1: UnetPlan = {
  channels: 32,
  widths: [1, 2],
  resBlocks: 1,
  depths: [1, 0],
  middle: 1,
  linear: false,
  context: l.width,
}
const sd2: UnetPlan = { ...sd1, linear: true, context: h.width }
const sdxl: UnetPlan = {
  ...sd2,
  widths: [1, 1, 2],
  depths: [0, 1, 1],
  context: l.width + g.width,
  vector: 48 + 6 * 256,
}

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
  sd1: { unet: sd1, text: l },
  sd2: { unet: sd2, text: h },
  sdxl: { unet: sdxl, text: l, text2: g },
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

const prefixes: Readonly<Record<TinyKind, Readonly<Record<'text' | 'text2', string>>>> = {
  sd1: { text: 'cond_stage_model.transformer.', text2: '' },
  sd2: { text: 'cond_stage_model.model.', text2: '' },
  sdxl: { text: 'conditioner.embedders.0.transformer.', text2: 'conditioner.embedders.1.model.' },
}

/** `parts` as one checkpoint. */
export function tinyCheckpoint(kind: TinyKind, { unet, vae, text, text2 = {} }: TinyWeights): Weights {
  const prefixed = (prefix: string, weights: Weights) =>
    Object.entries(weights).map(([name, t]) => [prefix + name, t] as const)
  return Object.fromEntries([
    ...prefixed('model.diffusion_model.', unet),
    ...prefixed('first_stage_model.', vae),
    ...prefixed(prefixes[kind].text, text),
    ...prefixed(prefixes[kind].text2, text2),
  ])
}
