import { type Vocabulary, wholeCharacters } from './tokens.ts'

/** A word as its tokens. */
export interface TokenWord {
  readonly word: string
  /** Its first token and the one behind its last, among those of the text. */
  readonly from: number
  readonly to: number
  /** Its first token that is no blank. */
  readonly spoken: number
}

/** Languages that write no blanks between words: each character of theirs is one. */
const WITHOUT_BLANKS = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue'])

/** The words of a text: each begins at a blank and keeps the marks that follow it. */
export function wordsOf(vocabulary: Vocabulary, tokens: readonly number[], language: string): readonly TokenWord[] {
  const words: TokenWord[] = []
  let from = 0
  for (const { tokens: group, text } of wholeCharacters(vocabulary, tokens)) {
    const to = from + group.length
    const begins = /^\s/u.test(text) || (WITHOUT_BLANKS.has(language) && !/^\p{P}+$/u.test(text))
    const before = words.at(-1)
    if (!before || (begins && before.word.trim() !== '')) words.push({ word: text, from, to, spoken: from })
    else {
      const spoken = before.word.trim() === '' ? from : before.spoken
      words[words.length - 1] = { ...before, word: before.word + text, to, spoken }
    }
    from = to
  }
  return words.filter(({ word }) => word.trim() !== '')
}

/** Times of words by their lengths alone, for models that do not tell where they looked: `[begin, end]` each. */
export function timesByLength(
  words: readonly TokenWord[],
  start: number,
  end: number,
): readonly (readonly [number, number])[] {
  const lengths = words.map(({ word }) => Math.max(1, [...word.trim()].length))
  const all = lengths.reduce((sum, length) => sum + length, 0)
  let done = 0
  return lengths.map((length) => {
    const begin = start + ((end - start) * done) / all
    done += length
    return [begin, start + ((end - start) * done) / all]
  })
}
