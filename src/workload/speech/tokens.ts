import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { messageOf, WorkloadError } from '../base/errors.ts'
import type { WhisperFiles } from './whisper-files.ts'

const tableSchema = z.record(z.string(), z.number().int())

const tokenizerSchema = z.object({
  model: z.object({ vocab: tableSchema }),
  added_tokens: z.array(z.object({ id: z.number().int(), content: z.string() })).default([]),
})

/** What the tokens of a model stand for. */
export interface Vocabulary {
  /** The bytes of a token; a character of several bytes may be spread over several tokens. */
  bytesOf(token: number): Uint8Array
  /** Tokens that are no text, such as `<|en|>`. */
  readonly special: ReadonlyMap<string, number>
}

/** Reads tokenizer.json, or vocab.json with added_tokens.json. Throws `model-unsupported` when they are something else. */
export async function readVocabulary({ tokenizer, vocabulary, addedTokens }: WhisperFiles): Promise<Vocabulary> {
  const read = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    try {
      return schema.parse(JSON.parse(await readFile(path, 'utf8')))
    } catch (cause) {
      throw new WorkloadError('model-unsupported', `${path} is no list of tokens: ${messageOf(cause)}`, { cause })
    }
  }
  if (tokenizer) {
    const { model, added_tokens } = await read(tokenizer, tokenizerSchema)
    return createVocabulary(model.vocab, new Map(added_tokens.map(({ id, content }) => [content, id])))
  }
  const added = addedTokens ? await read(addedTokens, tableSchema) : {}
  return createVocabulary(vocabulary ? await read(vocabulary, tableSchema) : {}, new Map(Object.entries(added)))
}

function createVocabulary(table: Readonly<Record<string, number>>, special: ReadonlyMap<string, number>): Vocabulary {
  const bytes = bytesByCharacter()
  const words = new Map(Object.entries(table).map(([word, token]) => [token, word]))
  const none = new Uint8Array()
  const all = new Map([...Object.entries(table).filter(([word]) => /^<\|.*\|>$/.test(word)), ...special])
  const specialTokens = new Set(all.values())
  return {
    bytesOf(token) {
      const word = words.get(token)
      if (word === undefined || specialTokens.has(token)) return none
      return Uint8Array.from(word, (character) => bytes.get(character) ?? 0x3f)
    },
    special: all,
  }
}

/** The text of tokens one after the other. Bytes that make no character, as at the end of a cut text, become `�`. */
export function textOf(vocabulary: Vocabulary, tokens: readonly number[]): string {
  return Buffer.concat(tokens.map((token) => vocabulary.bytesOf(token))).toString('utf8')
}

/**
 * The smallest groups of tokens that are whole characters, with their texts: a character whose bytes are spread over
 * tokens keeps these together. What never becomes one is a group in the end.
 */
export function wholeCharacters(
  vocabulary: Vocabulary,
  tokens: readonly number[],
): readonly { readonly tokens: readonly number[]; readonly text: string }[] {
  const groups: { tokens: readonly number[]; text: string }[] = []
  let open: number[] = []
  for (const [i, token] of tokens.entries()) {
    open = [...open, token]
    const text = textOf(vocabulary, open)
    if (text.endsWith('\ufffd') && i < tokens.length - 1 && open.length < MOST_BYTES) continue
    groups.push({ tokens: open, text })
    open = []
  }
  return groups
}

/** A character of UTF-8 has no more bytes, so what is no character after as many tokens will never be one. */
const MOST_BYTES = 4

/**
 * The characters that stand for bytes in the tables of GPT-2 (and so Whisper's): printable ones of Latin-1 for
 * themselves, the other bytes in their order for characters from U+0100 on.
 */
function bytesByCharacter(): ReadonlyMap<string, number> {
  const printable = (byte: number): boolean =>
    (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte < 0xad) || byte > 0xad
  let next = 0x100
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [String.fromCodePoint(printable(byte) ? byte : next++), byte]),
  )
}
