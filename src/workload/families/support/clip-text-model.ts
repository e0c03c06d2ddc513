import { clipTextGraph, readClipTextConfig } from '../../architectures/clip-text.ts'
import type { AppliedPatch } from '../../model/patches.ts'
import type { Session } from '../../runtime/session.ts'
import { tensor, zeros } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import { END } from './clip-vocabulary.ts'
import type { EmbeddingKey } from './embeddings.ts'
import type { FamilyServices } from './family.ts'
import { patchedText } from './patched-text.ts'
import { sourceOf } from './session-source.ts'
import { CHUNK_LENGTH, type Chunk, chunkPrompt, withoutForeignVectors } from './token-chunks.ts'
import { type EncodedPrompt, type EncodedRows, encodeWeighted } from './weighted-encoding.ts'

/** The published CLIP text transformers: OpenAI's L; OpenCLIP's H and G. */
export type ClipSize = 'l' | 'g' | 'h'

/** Where a text transformer comes from. */
export type ClipSource = ClipWeights | ClipExport

/** A transformer that was exported whole, so that nothing of it is built here. */
export interface ClipExport {
  open(size: ClipSize, patches: readonly AppliedPatch[]): ClipTextModel
}

/** Which weights a text transformer has: equal keys share a session. */
export interface ClipWeights {
  readonly key: string
  /** Under the names `clipTextView` gives. */
  readonly view: WeightView
}

/** What is taken of a run of the transformer. */
export interface ClipReading {
  /** The layer to stop at, from the end; one that it does not have means the last, behind the final norm. */
  readonly layer: number
  /** Whether the final norm is put behind that layer. */
  readonly normed: boolean
  readonly pooled: 'plain' | 'projected'
}

/** One CLIP text transformer in a session. */
export interface ClipTextModel {
  /** The chunks of `text` in ComfyUI's prompt syntax; at least one. */
  chunksOf(text: string): Promise<readonly Chunk[]>
  encode(chunks: readonly Chunk[], reading: ClipReading): Promise<EncodedPrompt>
}

/** Channels of one attention head in every published CLIP text model. */
const HEAD_WIDTH = 64

/** OpenCLIP-H has 24 layers; files in the layout of diffusers leave out the last, which Stable Diffusion 2 never reads. */
const SHORTENED_H = 23

/** What is each one's own: its part of embedding files, its activation, the token that fills a chunk up. */
export const clipKinds = {
  l: { encoder: 'clip_l', activation: 'quickGelu', pad: END },
  g: { encoder: 'clip_g', activation: 'gelu', pad: 0 },
  h: { encoder: 'clip_h', activation: 'gelu', pad: 0 },
} as const satisfies Readonly<
  Record<ClipSize, { encoder: EmbeddingKey; activation: 'quickGelu' | 'gelu'; pad: number }>
>

/** How a transformer of that size gets the chunks of a text. */
export function chunksFor(size: ClipSize, services: FamilyServices): ClipTextModel['chunksOf'] {
  const { encoder, pad } = clipKinds[size]
  return async (text) =>
    chunkPrompt(text, {
      tokenizer: await services.tokenizer(),
      pad,
      findEmbedding: (name) => services.embeddings.find(name, encoder),
      onMissing: services.onMissingEmbedding,
    })
}

/** A CLIP text transformer of that size, its weights changed by `patches`. */
export function createClipTextModel(
  size: ClipSize,
  source: ClipSource,
  patches: readonly AppliedPatch[],
  services: FamilyServices,
): ClipTextModel {
  if ('open' in source) return source.open(size, patches)
  const { key, variantOf, view, lower } = patchedText(size, source, patches, services)
  const { encoder, activation, pad } = clipKinds[size]
  const { layers, width } = readClipTextConfig(view)
  const session = services.runtime.session({
    key: `${encoder} ${key}`,
    weightBytes: bytesOf(view),
    variantOf: variantOf && `${encoder} ${variantOf}`,
    build: () => sourceOf(clipTextGraph(view, lower, { heads: Math.max(1, width / HEAD_WIDTH), activation })),
  })
  return {
    chunksOf: chunksFor(size, services),
    encode(chunks, { layer, normed, pooled }) {
      const counted = size === 'h' && layers === SHORTENED_H ? layers + 1 : layers
      const known = layer < 0 && -layer <= counted
      const stop = { width, layers, place: known ? Math.min(counted + layer, layers - 1) : layers - 1 }
      return encodeWeighted(chunks, pad, async (rows) => {
        const fitting = rows.map((row) => withoutForeignVectors(row, width, pad))
        const states = await runRows(session, fitting, stop)
        return {
          hidden: normed || !known ? states.normed : states.hidden,
          // Networks without a projection of their own pass the vector on as it is.
          pooled: pooled === 'projected' ? (states.projected ?? states.pooled) : states.pooled,
        } satisfies EncodedRows
      })
    },
  }
}

interface Stop {
  readonly width: number
  readonly layers: number
  /** The layer whose state is taken, from 0. */
  readonly place: number
}

async function runRows(session: Session, rows: readonly Chunk[], { width, layers, place }: Stop) {
  const count = rows.length
  const ids = zeros([count, CHUNK_LENGTH])
  const vectors = zeros([count, CHUNK_LENGTH, width])
  const kept = zeros([count, CHUNK_LENGTH, 1])
  const end = zeros([count, CHUNK_LENGTH])
  for (const [row, tokens] of rows.entries()) {
    for (const [i, token] of tokens.entries()) {
      const at = row * CHUNK_LENGTH + i
      if ('vector' in token) vectors.data.set(token.vector, at * width)
      else {
        ids.data[at] = token.id
        kept.data[at] = 1
      }
    }
    end.data[row * CHUNK_LENGTH + tokens.findIndex((token) => 'id' in token && token.id === END)] = 1
  }
  const layer = tensor(
    [count, layers],
    Float32Array.from({ length: count * layers }, (_, i) => Number(i % layers === place)),
  )
  const { hidden, normed, pooled, projected } = await session.run({ ids, vectors, kept, layer, end })
  return { hidden: hidden!, normed: normed!, pooled: pooled!, projected }
}
