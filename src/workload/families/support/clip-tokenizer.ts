import { joinPairs } from './byte-pairs.ts'
import { END, loadClipVocabulary, START } from './clip-vocabulary.ts'

/** CLIP's tokens of a text, as ids below 49408. */
export interface ClipTokenizer {
  /** The tokens of `text` alone: no start, no end, no limit of length. */
  tokenize(text: string): readonly number[]
}

/** Written so, and only in small letters, they are the special tokens themselves. */
const SPECIAL = /(<\|startoftext\|>|<\|endoftext\|>)/

/** Contractions, runs of letters, single digits, runs of anything else but space (Radford et al. 2021). */
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\p{White_Space}\p{L}\p{N}]+/gu

/** Reads the vocabulary; once is enough. */
export async function loadClipTokenizer(): Promise<ClipTokenizer> {
  const { byteIds, lastByte, merge } = await loadClipVocabulary()

  const tokenizeWord = (word: string): readonly number[] => {
    const symbols = Array.from(Buffer.from(word, 'utf8'), (byte) => byteIds[byte]!)
    symbols[symbols.length - 1]! += lastByte
    return joinPairs(symbols, merge)
  }

  return {
    tokenize(text) {
      // Splitting by a group leaves what matched it at the odd places.
      return text.split(SPECIAL).flatMap((part, i) => {
        if (i % 2 === 1) return part === '<|startoftext|>' ? START : END
        return (lowerCase(part.normalize('NFC')).match(WORDS) ?? []).flatMap(tokenizeWord)
      })
    },
  }
}

/** Every character by itself: the vocabulary was made without the Greek rule that a sigma ends a word as ς. */
const lowerCase = (text: string): string => text.replaceAll('Σ', 'σ').toLowerCase()
