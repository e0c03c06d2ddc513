import type { SpokenSegment, SpokenWord } from './speech-model.ts'

/** A pause after which something new begins, whatever the punctuation says. */
const PAUSE_SECONDS = 2

/** A piece of text and when it was said; blanks belong to the piece after them. */
export type TimedText = SpokenWord

/** The words of a segment; where it has none, its time is shared out among them by their letters. */
export function wordsOf({ text, words, start, end, score }: SpokenSegment): readonly TimedText[] {
  if (words && words.length > 0) return words
  const parts = text.match(/\s*\S+/g) ?? []
  const letters = Math.max(1, parts.join('').length)
  let at = start
  return parts.map((word) => {
    const from = at
    at += ((end - start) * word.length) / letters
    return { word, start: from, end: at, score }
  })
}

/**
 * Words by the sentences that they are in, as the language's rules see them (Unicode, annex 29), and apart where the
 * speaker pauses. Names after a title or an initial stay in their sentence.
 */
export function sentencesOf(words: readonly TimedText[], language: string): readonly (readonly TimedText[])[] {
  const sentences: TimedText[][] = []
  const text = words.map(({ word }) => word).join('')
  const starts = new Set<number>()
  for (const { index, segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text))
    starts.add(index + segment.search(/\S|$/))
  let [at, before] = [0, undefined as TimedText | undefined]
  for (const word of words) {
    const first = at + word.word.search(/\S|$/)
    const isNew = !before || word.start - before.end >= PAUSE_SECONDS || (starts.has(first) && !endsOpen(before.word))
    if (isNew) sentences.push([word])
    else sentences.at(-1)!.push(word)
    before = word
    at += word.word.length
  }
  return sentences
}

/** Whether a full stop at the end of `word` belongs to a title or an initial. */
const endsOpen = (word: string): boolean =>
  /(^|[\s("'])(\p{Lu}|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|No|Nr|Hr|Fr|Mme|M)\.$/u.test(word)

/** What some words say together, and when. */
export function joined(words: readonly TimedText[]): TimedText {
  const score = words.reduce((sum, word) => sum + word.score, 0) / words.length
  const text = words.map(({ word }) => word).join('')
  return { word: text.trim(), start: words[0]!.start, end: words.at(-1)!.end, score }
}
