import { clipTextGraph, readClipTextConfig } from '../../architectures/clip-text.ts'
import type { TextEncoder } from '../../model/ports.ts'
import type { Session } from '../../runtime/session.ts'
import { tensor, zeros } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import { END } from './clip-vocabulary.ts'
import type { EmbeddingKey } from './embeddings.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'
import { CHUNK_LENGTH, type Chunk, chunkPrompt, withoutForeignVectors } from './token-chunks.ts'
import { type EncodedRows, encodeWeighted } from './weighted-encoding.ts'

/** Channels of one attention head in every published CLIP text model. */
const HEAD_WIDTH = 64

export interface ClipTextParts {
  /** Which weights these are: equal keys share a session. */
  readonly key: string
  readonly view: WeightView
  /** Which of an embedding file's tensors are for it. */
  readonly encoder: EmbeddingKey
  readonly activation: 'quickGelu' | 'gelu'
  /** The token that fills a chunk up. */
  readonly pad: number
}

/** A CLIP text model whose last layer, behind its final norm, is the conditioning (Stable Diffusion 1). */
export function createClipTextEncoder(parts: ClipTextParts, services: FamilyServices): TextEncoder {
  const { key, view, encoder, activation, pad } = parts
  const { layers, width } = readClipTextConfig(view)
  const session = services.runtime.session({
    key: `${encoder} ${key}`,
    weightBytes: bytesOf(view),
    build: () =>
      sourceOf(clipTextGraph(view, services.lower.textEncoder, { heads: Math.max(1, width / HEAD_WIDTH), activation })),
  })
  const stoppingAt = (layer: number): TextEncoder => ({
    async encode(text) {
      const reader = {
        tokenizer: await services.tokenizer(),
        pad,
        findEmbedding: (name: string) => services.embeddings.find(name, encoder),
        onMissing: services.onMissingEmbedding,
      }
      const chunks = await chunkPrompt(typeof text === 'string' ? text : text.l, reader)
      const place = layer < 0 && -layer <= layers ? layers + layer : layers - 1
      const encoded = await encodeWeighted(chunks, pad, (rows) =>
        runRows(
          session,
          rows.map((row) => withoutForeignVectors(row, width, pad)),
          { width, layers, place },
        ),
      )
      return [encoded]
    },
    stoppingAt,
    patched: () => stoppingAt(layer),
  })
  return stoppingAt(-1)
}

interface Stop {
  readonly width: number
  readonly layers: number
  /** The layer whose state is taken, from 0. */
  readonly place: number
}

async function runRows(session: Session, rows: readonly Chunk[], { width, layers, place }: Stop): Promise<EncodedRows> {
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
  const { normed, pooled } = await session.run({ ids, vectors, kept, layer, end })
  return { hidden: normed!, pooled }
}
