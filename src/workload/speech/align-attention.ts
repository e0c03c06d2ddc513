import type { Tensor } from '../tensor/tensor.ts'
import type { CostTable } from './align-path.ts'

/** Places that the median is taken of. */
const MEDIAN = 7

/** Which part of the attention tells times, and of what. */
export interface AlignmentPart {
  /** Layer and head of each head that follows what is said. */
  readonly heads: readonly (readonly [layer: number, head: number])[]
  /** Tokens, the first and the one behind the last. */
  readonly rows: readonly [from: number, to: number]
  /** Places of the encoder's output, likewise. */
  readonly places: readonly [from: number, to: number]
}

/**
 * What it costs to say that a token was spoken at a place, from how much the decoder's `heads` looked there
 * (`[1, heads, tokens, places]` a layer). As Whisper's published code does: each place is compared over all the tokens
 * of the window, smoothed by a median, and the mean of the heads taken.
 */
export function alignmentCosts(
  attentions: ReadonlyMap<number, Tensor>,
  { heads, rows, places }: AlignmentPart,
): CostTable {
  const [columns, count] = [places[1] - places[0], rows[1] - rows[0]]
  const values = new Float32Array(count * columns)
  for (const [layer, head] of heads) {
    const table = standardized(attentions.get(layer)!, head, places)
    for (let row = 0; row < count; row++) {
      const from = (rows[0] + row) * columns
      const smooth = medians(table.subarray(from, from + columns))
      for (let i = 0; i < columns; i++) values[row * columns + i]! -= smooth[i]! / heads.length
    }
  }
  return { rows: count, columns, values }
}

/** `[tokens, places]`: the head's shares of the places, less their mean over the tokens and by their deviation. */
function standardized({ dims, data }: Tensor, head: number, [from, to]: readonly [number, number]): Float32Array {
  const [, , tokens, all] = dims as readonly [number, number, number, number]
  const columns = to - from
  const table = new Float32Array(tokens * columns)
  for (let token = 0; token < tokens; token++) {
    const row = data.subarray((head * tokens + token) * all).subarray(from, to)
    const sum = row.reduce((total, share) => total + share, 0) || 1
    for (let i = 0; i < columns; i++) table[token * columns + i] = row[i]! / sum
  }
  for (let column = 0; column < columns; column++) {
    let sum = 0
    let squares = 0
    for (let at = column; at < table.length; at += columns) sum += table[at]!
    const mean = sum / tokens
    for (let at = column; at < table.length; at += columns) squares += (table[at]! - mean) ** 2
    const deviation = Math.sqrt(squares / tokens) || 1
    for (let at = column; at < table.length; at += columns) table[at] = (table[at]! - mean) / deviation
  }
  return table
}

/** The median around each place; behind the ends lies the mirror image. */
function medians(values: Float32Array): Float32Array {
  const reach = (MEDIAN - 1) / 2
  if (values.length <= reach) return values
  const last = values.length - 1
  const mirrored = (i: number): number => values[i < 0 ? -i : i > last ? 2 * last - i : i]!
  const sorted = new Float32Array(MEDIAN)
  return values.map((_, at) => {
    for (let i = 0; i < MEDIAN; i++) {
      const value = mirrored(at - reach + i)
      let place = i
      for (; place > 0 && sorted[place - 1]! > value; place--) sorted[place] = sorted[place - 1]!
      sorted[place] = value
    }
    return sorted[reach]!
  })
}
