import { describe, expect, it } from 'vitest'
import { type Chunk, chunkTokens, type Token } from '../../../src/workload/families/support/token-chunks.ts'
import { encodeWeighted } from '../../../src/workload/families/support/weighted-encoding.ts'
import { tensor } from '../../../src/workload/tensor/tensor.ts'

const idOf = (token: Token) => ('vector' in token ? -1 : token.id)

/** An encoder of width 2 whose rows tell what they were made of: token id and place. Keeps what it was asked. */
function telling() {
  const asked: (readonly Chunk[])[] = []
  const encodeRows = async (rows: readonly Chunk[]) => {
    asked.push(rows)
    const hidden = rows.flatMap((row) => row.flatMap((token, place) => [idOf(token), place]))
    return {
      hidden: tensor([rows.length, 77, 2], Float32Array.from(hidden)),
      pooled: tensor(
        [rows.length, 1],
        Float32Array.from(rows, (row) => idOf(row[1]!)),
      ),
    }
  }
  return { asked, encodeRows }
}
const words = (...tokens: readonly (readonly [id: number, weight: number])[]) =>
  tokens.map(([id, weight]) => ({ id, weight }))

describe('encoding with weights', () => {
  it('joins the chunks of a plain prompt on the token axis, in one call without an empty prompt', async () => {
    const { asked, encodeRows } = telling()
    const chunks = chunkTokens([words(...Array.from({ length: 80 }, (_, i) => [i + 1, 1] as const))], 0)
    const { context, pooled } = await encodeWeighted(chunks, 0, encodeRows)
    expect(asked).toEqual([chunks])
    expect(context.dims).toEqual([1, 154, 2])
    expect([...context.data.subarray(77 * 2, 79 * 2)]).toEqual([49406, 0, 76, 1])
    expect([pooled!.dims, [...pooled!.data]]).toEqual([[1, 1], [1]])
  })

  it('moves weighted tokens away from the empty prompt, at their own place, and leaves the others', async () => {
    const { asked, encodeRows } = telling()
    const { context, pooled } = await encodeWeighted(chunkTokens([words([10, 1], [20, 1.5])], 0), 0, encodeRows)
    expect(asked[0]!.map((row) => row.slice(0, 4).map(idOf))).toEqual([
      [49406, 10, 20, 49407],
      [49406, 49407, 0, 0],
    ])
    expect(context.dims).toEqual([1, 77, 2])
    expect([...context.data.subarray(0, 8)]).toEqual([49406, 0, 10, 1, 30, 2, 49407, 3])
    expect([...pooled!.data]).toEqual([10])
  })

  it('computes in float32, the weight included', async () => {
    const { encodeRows } = telling()
    const { context } = await encodeWeighted(chunkTokens([words([3, 1.1])], 49407), 49407, encodeRows)
    const expected = Math.fround(Math.fround(3 - 49407) * Math.fround(1.1)) + 49407
    expect(context.data[2]).toBe(Math.fround(expected))
  })

  it('encodes no chunks as the empty prompt', async () => {
    const { context, pooled } = await encodeWeighted([], 0, telling().encodeRows)
    expect(context.dims).toEqual([1, 77, 2])
    expect([...context.data.subarray(0, 4)]).toEqual([49406, 0, 49407, 1])
    expect(pooled!.dims).toEqual([1, 1])
  })

  it('goes without a pooled vector where the encoder gives none', async () => {
    const { encodeRows } = telling()
    const hiddenOnly = async (rows: readonly Chunk[]) => ({ ...(await encodeRows(rows)), pooled: undefined })
    expect((await encodeWeighted(chunkTokens([], 0), 0, hiddenOnly)).pooled).toBeUndefined()
  })
})
