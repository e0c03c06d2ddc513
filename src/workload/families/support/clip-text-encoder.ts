import { WorkloadError } from '../../base/errors.ts'
import type { Conditioning } from '../../model/conditioning.ts'
import type { AppliedPatch } from '../../model/patches.ts'
import type { PromptText, TextEncoder } from '../../model/ports.ts'
import { joinedAlong, slicedAlong } from '../../tensor/axes.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type ClipReading, type ClipSize, type ClipSource, createClipTextModel } from './clip-text-model.ts'
import type { FamilyServices } from './family.ts'
import { textAsPatch } from './patched-text.ts'
import type { Chunk } from './token-chunks.ts'

/** Stable Diffusion 1: CLIP-L's last layer behind its final norm; pooled as it is. */
export function createSd1TextEncoder(l: ClipSource, services: FamilyServices): TextEncoder {
  return createSingleEncoder('l', l, { layer: -1, normed: true, pooled: 'plain' }, services)
}

/** Stable Diffusion 2: the layer before OpenCLIP-H's last, behind the final norm; pooled and projected. */
export function createSd2TextEncoder(h: ClipSource, services: FamilyServices): TextEncoder {
  return createSingleEncoder('h', h, { layer: -2, normed: true, pooled: 'projected' }, services)
}

/** The refiner of SDXL: the layer before OpenCLIP-G's last as it is; pooled and projected. */
export function createRefinerTextEncoder(g: ClipSource, services: FamilyServices): TextEncoder {
  return createSingleEncoder('g', g, { layer: -2, normed: false, pooled: 'projected' }, services)
}

/**
 * SDXL (Podell et al. 2023): the layers before the last of CLIP-L and OpenCLIP-G as they are, side by side on the
 * channels and cut to the shorter; pooled is G's, projected. Given two texts, the one with fewer chunks is filled up
 * with empty prompts.
 */
export function createSdxlTextEncoder(
  sources: { readonly l: ClipSource; readonly g: ClipSource },
  services: FamilyServices,
): TextEncoder {
  const build = (patches: readonly AppliedPatch[]): Encode => {
    const l = createClipTextModel('l', sources.l, patches, services)
    const g = createClipTextModel('g', sources.g, patches, services)
    return async (text, layer) => {
      const texts = typeof text === 'string' ? { l: text, g: text } : text
      const [chunksL, chunksG] = await Promise.all([l.chunksOf(texts.l), g.chunksOf(texts.g)])
      const count = typeof text === 'string' ? 0 : Math.max(chunksL.length, chunksG.length)
      const [ofL, ofG] = await Promise.all([
        l.encode(await filledUp(chunksL, count, l), { layer, normed: false, pooled: 'plain' }),
        g.encode(await filledUp(chunksG, count, g), { layer, normed: false, pooled: 'projected' }),
      ])
      return [{ context: sideBySide(ofL.context, ofG.context), pooled: ofG.pooled }]
    }
  }
  return encoderOver({ build, sources }, -2)
}

/** Encodes a text up to a layer, counted from the end. */
type Encode = (text: PromptText, layer: number) => Promise<Conditioning>

/** What an encoder is made of, and how, with all patches that were applied, in their order. */
interface Parts {
  readonly sources: Readonly<Partial<Record<ClipSize, ClipSource>>>
  build(patches: readonly AppliedPatch[]): Encode
}

function encoderOver(parts: Parts, layer: number, patches: readonly AppliedPatch[] = []): TextEncoder {
  const encode = parts.build(patches)
  const weights = textAsPatch(parts.sources, patches)
  return {
    encode: (text) => encode(text, layer),
    stoppingAt: (stop) => encoderOver(parts, stop, patches),
    patched: (more) => encoderOver(parts, layer, [...patches, ...more]),
    ...(weights && { asPatch: () => weights }),
  }
}

function createSingleEncoder(
  size: ClipSize,
  source: ClipSource,
  reading: ClipReading,
  services: FamilyServices,
): TextEncoder {
  const build = (patches: readonly AppliedPatch[]): Encode => {
    const model = createClipTextModel(size, source, patches, services)
    return async (text, layer) => {
      if (typeof text !== 'string')
        throw new WorkloadError('execution-failed', 'this text encoder takes one text: two are for models like SDXL')
      return [await model.encode(await model.chunksOf(text), { ...reading, layer })]
    }
  }
  return encoderOver({ build, sources: { [size]: source } }, reading.layer)
}

/** `chunks` with empty prompts behind them until there are `count`. */
async function filledUp(
  chunks: readonly Chunk[],
  count: number,
  model: { chunksOf(text: string): Promise<readonly Chunk[]> },
): Promise<readonly Chunk[]> {
  const missing = Math.max(count - chunks.length, 0)
  if (missing === 0) return chunks
  const empty = await model.chunksOf('')
  return [...chunks, ...Array.from({ length: missing }, () => empty).flat()]
}

/** `[1, T, A]` and `[1, U, B]` → `[1, min(T, U), A + B]` */
function sideBySide(a: Tensor, b: Tensor): Tensor {
  const length = Math.min(a.dims[1]!, b.dims[1]!)
  return joinedAlong(
    [a, b].map((t) => slicedAlong(t, 1, 0, length)),
    2,
  )
}
