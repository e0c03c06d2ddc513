import { joined, sentencesOf, type TimedText } from './sentences.ts'

/** The most characters of a caption (platform reference, section 8.2). */
const MOST_CHARACTERS = 84

/** Words in captions: a sentence each, broken at punctuation where it is too long, else between words. */
export function captionsOf(words: readonly TimedText[], language: string): readonly TimedText[] {
  return sentencesOf(words, language)
    .flatMap((sentence) => broken(sentence.flatMap(fitting)))
    .map(joined)
    .filter(({ word }) => word !== '')
}

/** Captions as a SubRip file. */
export const subRip = (captions: readonly TimedText[]): string =>
  captions.map(({ word, start, end }, i) => `${i + 1}\n${clock(start)} --> ${clock(end)}\n${word}\n`).join('\n')

/** A sentence in pieces that fit; each ends at the last punctuation in it, if that is not near its beginning, or where it is full. */
function broken(words: readonly TimedText[]): readonly (readonly TimedText[])[] {
  const most = longestStart(words)
  if (most === words.length) return [words]
  const atPunctuation =
    words.slice(0, most).findLastIndex(({ word }) => /[,;:،、，；：–—][\p{Pe}\p{Pf}"']*$/u.test(word)) + 1
  const at = charactersOf(words.slice(0, atPunctuation)) * 3 >= MOST_CHARACTERS ? atPunctuation : most
  return [words.slice(0, at), ...broken(words.slice(at))]
}

/** How many words fit into one caption, which is one at least. */
function longestStart(words: readonly TimedText[]): number {
  let count = 1
  while (count < words.length && charactersOf(words.slice(0, count + 1)) <= MOST_CHARACTERS) count++
  return count
}

const charactersOf = (words: readonly TimedText[]): number =>
  [
    ...words
      .map(({ word }) => word)
      .join('')
      .trim(),
  ].length

/** A word that is longer than a caption in pieces that share its time: some languages have no blanks. */
function fitting(word: TimedText): readonly TimedText[] {
  const letters = [...word.word]
  if (letters.length <= MOST_CHARACTERS) return [word]
  const duration = word.end - word.start
  return Array.from({ length: Math.ceil(letters.length / MOST_CHARACTERS) }, (_, i) => {
    const [from, to] = [i * MOST_CHARACTERS, Math.min(letters.length, (i + 1) * MOST_CHARACTERS)]
    const timeAt = (letter: number) => word.start + (duration * letter) / letters.length
    return { ...word, word: letters.slice(from, to).join(''), start: timeAt(from), end: timeAt(to) }
  })
}

/** Hours, minutes, seconds and milliseconds as SubRip writes them. */
function clock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000)
  const part = (unit: number, of: number, digits = 2) =>
    String(Math.floor(milliseconds / unit) % of).padStart(digits, '0')
  return `${part(3_600_000, 1000)}:${part(60_000, 60)}:${part(1000, 60)},${part(1, 1000, 3)}`
}
