import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadClipTokenizer } from '../../../src/workload/families/support/clip-tokenizer.ts'
import {
  type Chunk,
  chunkPrompt,
  type PromptReader,
  withoutForeignVectors,
} from '../../../src/workload/families/support/token-chunks.ts'
import { filled, type Tensor } from '../../../src/workload/tensor/tensor.ts'

type Pair = readonly [id: number, weight: number]
const goldens = JSON.parse(readFileSync('test/fixtures/goldens/golden_misc.json', 'utf8')) as {
  readonly clip_l_tokens: Readonly<Record<string, readonly (readonly Pair[])[]>>
  readonly clip_g_chunk_lengths: Readonly<Record<string, readonly number[]>>
}
const tokenizer = await loadClipTokenizer()

const reader = (more: Partial<PromptReader> = {}): PromptReader => ({
  tokenizer,
  pad: 49407,
  findEmbedding: async () => undefined,
  ...more,
})
const embeddingsNamed = (files: Readonly<Record<string, Tensor>>) => ({
  findEmbedding: async (name: string) => files[name],
})
/** Ids with weights; a vector stands as its first value, negated so that it is no id. */
const pairsOf = (chunk: Chunk) =>
  chunk.map((token): Pair => ['vector' in token ? -token.vector[0]! : token.id, token.weight])
/** The text of a chunk of its own: what stands between start and end. */
const inside = ([chunk]: readonly Chunk[]) => {
  const pairs = pairsOf(chunk!)
  return pairs.slice(
    1,
    pairs.findIndex(([id]) => id === 49407),
  )
}

describe('a prompt in chunks', () => {
  it.each(Object.entries(goldens.clip_l_tokens))(
    '%j has the tokens and weights of the reference',
    async (prompt, chunks) => {
      const whole = chunks.map((pairs) => [...pairs, ...Array<Pair>(77 - pairs.length).fill(pairs.at(-1)!)])
      expect((await chunkPrompt(prompt, reader())).map(pairsOf)).toEqual(whole)
    },
  )

  it.each(Object.entries(goldens.clip_g_chunk_lengths))(
    '%j has the chunks of the reference with padding 0',
    async (prompt, lengths) => {
      const chunks = await chunkPrompt(prompt, reader({ pad: 0 }))
      expect(chunks.map(({ length }) => length)).toEqual(lengths)
      for (const chunk of chunks) expect([0, 49407]).toContain(pairsOf(chunk).at(-1)![0])
    },
  )

  it('moves a short group to the next chunk whole, and cuts a long one', async () => {
    const short = await chunkPrompt(`${'a '.repeat(72)} (b b b b b)`, reader())
    expect(pairsOf(short[0]!).slice(72, 75)).toEqual([
      [320, 1],
      [49407, 1],
      [49407, 1],
    ])
    expect(pairsOf(short[1]!).slice(0, 2)).toEqual([
      [49406, 1],
      [321, 1.1],
    ])
    const long = await chunkPrompt(`${'a '.repeat(72)} (b b b b b b b b)`, reader())
    expect(pairsOf(long[0]!).slice(72, 77)).toEqual([
      [320, 1],
      [321, 1.1],
      [321, 1.1],
      [321, 1.1],
      [49407, 1],
    ])
  })

  it('makes chunks of 77 that begin with the start and hold an end, whatever the prompt', async () => {
    const words = fc.constantFrom('a', 'supercalifragilistic ', '(', ')', ':1.2)', ' ', '\\(', '🎉', 'embedding:x ')
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: words, maxLength: 300 }), fc.constantFrom(0, 49407), async (prompt, pad) => {
        for (const chunk of await chunkPrompt(prompt, reader({ pad, ...embeddingsNamed({ x: filled([3, 4], 1) }) }))) {
          expect(chunk).toHaveLength(77)
          expect(pairsOf(chunk)[0]).toEqual([49406, 1])
          expect(pairsOf(chunk).map(([id]) => id)).toContain(49407)
          expect(chunk.every(({ weight }) => Number.isFinite(weight))).toBe(true)
        }
      }),
    )
  })
})

describe('an embedding in a prompt', () => {
  const files = embeddingsNamed({ dog: filled([2, 4], 7), 'odd,': filled([1, 4], 9) })

  it('becomes its vectors, with the weight of the text around it', async () => {
    expect(inside(await chunkPrompt('a (embedding:dog:1.3) b', reader(files)))).toEqual([
      [320, 1],
      [-7, 1.3],
      [-7, 1.3],
      [321, 1],
    ])
  })

  it('ends at the first space; what follows is text, and so is a comma', async () => {
    const chunks = await chunkPrompt('a embedding:dog, b\nembedding:odd, a', reader(files))
    expect(inside(chunks).map(([id]) => id)).toEqual([320, -7, -7, 267, 321, -9, 320])
  })

  it('is left out when there is no such file, and that is told', async () => {
    const missing: string[] = []
    const onMissing = (name: string) => void missing.push(name)
    expect(inside(await chunkPrompt('embedding:cat, a embedding:', reader({ ...files, onMissing })))).toEqual([
      [267, 1],
      [320, 1],
    ])
    expect(missing).toEqual(['cat,'])
  })

  it('is plain text inside a word', async () => {
    expect(await chunkPrompt('myembedding:dog', reader(files))).toEqual(await chunkPrompt('myembedding:dog', reader()))
  })

  it('drops out for a network of another width, and padding moves up', async () => {
    const [chunk] = await chunkPrompt('a embedding:dog b', reader({ pad: 0, ...files }))
    expect(withoutForeignVectors(chunk!, 4, 0)).toEqual(chunk)
    const narrow = withoutForeignVectors(chunk!, 8, 0)
    expect(narrow).toHaveLength(77)
    expect(
      pairsOf(narrow)
        .slice(0, 6)
        .map(([id]) => id),
    ).toEqual([49406, 320, 321, 49407, 0, 0])
  })
})
