import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Merge } from './byte-pairs.ts'

/** Opens every text; CLIP never sees a prompt without it. */
export const START = 49406

/** Closes every text; the network reads its summary of the text at the first of these. */
export const END = 49407

/** The 256 bytes come first, then the 256 bytes that end a word, then the merges in order of rank. */
const FIRST_MERGE = 512

/** Bytes and merges as token ids: all that tokenising needs. */
export interface ClipVocabulary {
  /** The token of each byte inside a word; `lastByte` is added for the byte that ends it. */
  readonly byteIds: readonly number[]
  readonly lastByte: number
  /** The token two neighbours become. Ids rise with rank: the lower one merges first. */
  readonly merge: Merge
}

/**
 * The byte-pair vocabulary of CLIP (Radford et al. 2021), from the merges that come with the program.
 * Takes some 50 ms; keep what it returns.
 */
export async function loadClipVocabulary(): Promise<ClipVocabulary> {
  const packed = await readFile(new URL('../../../../assets/clip/merges.txt.gz', import.meta.url))
  const [, ...lines] = (await promisify(gunzip)(packed)).toString('utf8').trimEnd().split('\n')
  const alphabet = byteAlphabet()

  const ids = new Map<string, number>()
  for (const [id, { symbol }] of alphabet.entries()) ids.set(symbol, id).set(`${symbol}</w>`, id + alphabet.length)
  const merged = new Map<number, number>()
  for (const [rank, line] of lines.entries()) {
    const space = line.indexOf(' ')
    const [left, right] = [line.slice(0, space), line.slice(space + 1)]
    ids.set(left + right, FIRST_MERGE + rank)
    merged.set(pair(ids.get(left)!, ids.get(right)!), FIRST_MERGE + rank)
  }

  const byteIds = new Array<number>(alphabet.length)
  for (const [id, { byte }] of alphabet.entries()) byteIds[byte] = id
  return { byteIds, lastByte: alphabet.length, merge: (left, right) => merged.get(pair(left, right)) }
}

/** Two ids below 2^16 as one number. */
const pair = (left: number, right: number): number => left * 0x10000 + right

/**
 * The characters that stand for bytes in the merges, in vocabulary order (Radford et al. 2019, GPT-2): the visible
 * ones of Latin-1 for themselves, then all others as U+0100 onwards.
 */
function byteAlphabet(): readonly { readonly byte: number; readonly symbol: string }[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const visible = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  return [
    ...bytes.filter(visible).map((byte) => ({ byte, symbol: String.fromCharCode(byte) })),
    ...bytes.filter((byte) => !visible(byte)).map((byte, i) => ({ byte, symbol: String.fromCharCode(256 + i) })),
  ]
}
