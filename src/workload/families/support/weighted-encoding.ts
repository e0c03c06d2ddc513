import { takeRows } from '../../tensor/rows.ts'
import { reshaped, type Tensor, tensor } from '../../tensor/tensor.ts'
import { type Chunk, emptyChunk } from './token-chunks.ts'

/** What a text encoder makes of `rows` chunks. */
export interface EncodedRows {
  /** `[rows, 77, width]` */
  readonly hidden: Tensor
  /** `[rows, width]`: one vector for each whole chunk, of encoders that give one. */
  readonly pooled: Tensor | undefined
}

/** A prompt as a diffusion model takes it. */
export interface EncodedPrompt {
  /** `[1, 77 · chunks, width]` */
  readonly context: Tensor
  /** `[1, width]` */
  readonly pooled: Tensor | undefined
}

/**
 * Encodes chunks in one call and applies the weights: a weighted token moves from where it would be in an empty prompt,
 * `z = (z - empty) · weight + empty` at its place, in float32. The chunks follow one another on the token axis;
 * the pooled vector is that of the first, as it is. No chunks at all encode as the empty prompt.
 */
export async function encodeWeighted(
  chunks: readonly Chunk[],
  pad: number,
  encodeRows: (rows: readonly Chunk[]) => Promise<EncodedRows>,
): Promise<EncodedPrompt> {
  const isWeighted = chunks.some((chunk) => chunk.some(({ weight }) => weight !== 1))
  const rows = isWeighted || chunks.length === 0 ? [...chunks, emptyChunk(pad)] : chunks
  const { hidden, pooled } = await encodeRows(rows)
  const count = Math.max(chunks.length, 1)
  const [, tokens = 0, width = 0] = hidden.dims
  const texts = takeRows(hidden, 0, count)
  const weighted = isWeighted ? applyWeights(texts, takeRows(hidden, count, count + 1), chunks) : texts
  return { context: reshaped(weighted, [1, count * tokens, width]), pooled: pooled && takeRows(pooled, 0, 1) }
}

/** `[chunks, 77, width]` and the empty prompt `[1, 77, width]` → `[chunks, 77, width]`. */
function applyWeights(texts: Tensor, empty: Tensor, chunks: readonly Chunk[]): Tensor {
  const width = texts.dims[2]!
  const data = texts.data.slice()
  for (const [row, chunk] of chunks.entries()) {
    for (const [place, { weight }] of chunk.entries()) {
      if (weight === 1) continue
      const factor = Math.fround(weight)
      const from = row * empty.data.length + place * width
      for (let i = 0; i < width; i++) {
        const origin = empty.data[place * width + i]!
        const offset = Math.fround(data[from + i]! - origin)
        data[from + i] = Math.fround(offset * factor) + origin
      }
    }
  }
  return tensor(texts.dims, data)
}
