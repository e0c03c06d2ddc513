import type { Tensor } from '../../tensor/tensor.ts'
import type { ClipTokenizer } from './clip-tokenizer.ts'
import { END, START } from './clip-vocabulary.ts'
import { parseWeights } from './prompt-syntax.ts'

/** One place of a text encoder's input: a word of the vocabulary, or a vector of an embedding file in its stead. */
export type Token =
  | { readonly id: number; readonly weight: number }
  | { readonly vector: Float32Array; readonly weight: number }

/** The tokens of one run of the encoder: always 77, the first is `START`. */
export type Chunk = readonly Token[]

/** How many tokens CLIP reads at a time. */
export const CHUNK_LENGTH = 77

/** A group of at least so many tokens is cut where a chunk ends; a shorter one moves to the next chunk whole. */
const LARGE_GROUP = 8

/** What turns a prompt into chunks for one encoder. */
export interface PromptReader {
  readonly tokenizer: ClipTokenizer
  /** The id after the end: `END` for CLIP-L, 0 for the larger ones. */
  readonly pad: number
  /** The vectors `[count, width]` of the embedding of that name. */
  findEmbedding(name: string): Promise<Tensor | undefined>
  /** Told the name of an embedding that is not there; the prompt goes on without it. */
  onMissing?(name: string): void
}

/** A prompt in ComfyUI's syntax (weights, `embedding:name`) as chunks; at least one. */
export async function chunkPrompt(prompt: string, reader: PromptReader): Promise<readonly Chunk[]> {
  const groups: (readonly Token[])[] = []
  for (const { text, weight } of parseWeights(prompt)) {
    for (const piece of text.split(/[ \n](?=embedding:)/)) groups.push(...(await readPiece(piece, weight, reader)))
  }
  return chunkTokens(groups, reader.pad)
}

/** Plain text is one group; `embedding:name more text` is a group of vectors and one of text. */
async function readPiece(piece: string, weight: number, reader: PromptReader): Promise<readonly (readonly Token[])[]> {
  const plain = (text: string) => reader.tokenizer.tokenize(text).map((id) => ({ id, weight }))
  if (!piece.startsWith('embedding:')) return [plain(piece)]
  const [name = '', ...words] = piece.slice('embedding:'.length).trim().split(/\s+/)
  const { vectors, rest } = await findWithCommas(name, reader)
  if (!vectors && name) reader.onMissing?.(name)
  return [vectors?.map((vector) => ({ vector, weight })) ?? [], plain([rest, ...words].join(' '))]
}

/** A comma that touches the name of an embedding is text, unless a file is called so. */
async function findWithCommas(name: string, { findEmbedding }: PromptReader) {
  const whole = name ? await findEmbedding(name) : undefined
  if (whole) return { vectors: rowsIn(whole), rest: '' }
  const bare = name.replace(/^,+|,+$/g, '')
  const found = bare && bare !== name ? await findEmbedding(bare) : undefined
  return { vectors: found && rowsIn(found), rest: name.slice(bare.length) }
}

const rowsIn = ({ dims: [count = 0, width = 0], data }: Tensor): readonly Float32Array[] =>
  Array.from({ length: count }, (_, i) => data.subarray(i * width, (i + 1) * width))

/**
 * Lays groups of tokens out in chunks of 77. A chunk is `START`, up to 75 tokens, `END` and padding; a group that does
 * not fit begins the next chunk, or is cut when it is large.
 */
export function chunkTokens(groups: readonly (readonly Token[])[], pad: number): readonly Chunk[] {
  const capacity = CHUNK_LENGTH - 1 // the end takes one
  const chunks: Token[][] = [[plainToken(START)]]
  for (const group of groups) {
    let from = 0
    while (group.length - from + chunks.at(-1)!.length > capacity) {
      const room = capacity - chunks.at(-1)!.length
      if (group.length >= LARGE_GROUP) {
        chunks.at(-1)!.push(...group.slice(from, from + room))
        from += room
      }
      close(chunks.at(-1)!, pad)
      chunks.push([plainToken(START)])
    }
    chunks.at(-1)!.push(...group.slice(from))
  }
  close(chunks.at(-1)!, pad)
  return chunks
}

/** The chunk of no text at all. */
export function emptyChunk(pad: number): Chunk {
  return chunkTokens([], pad)[0]!
}

/**
 * A chunk as a network of `width` can read it: vectors of another width drop out, and padding moves up from behind.
 * The weights of a chunk keep their old places, as in ComfyUI.
 */
export function withoutForeignVectors(chunk: Chunk, width: number, pad: number): Chunk {
  const kept = chunk.filter((token) => !('vector' in token) || token.vector.length === width)
  return [...kept, ...Array.from({ length: chunk.length - kept.length }, () => plainToken(pad))]
}

const plainToken = (id: number): Token => ({ id, weight: 1 })

function close(chunk: Token[], pad: number): void {
  chunk.push(plainToken(END))
  while (chunk.length < CHUNK_LENGTH) chunk.push(plainToken(pad))
}
