import { describe, expect, it } from 'vitest'
import { captionsOf, subRip } from '../../../src/workload/speech/captions.ts'
import { sentencesOf, type TimedText, wordsOf } from '../../../src/workload/speech/sentences.ts'

/** The words of `text`, half a second each, one after the other; `|` stands for a pause of three seconds. */
function spoken(text: string): readonly TimedText[] {
  let at = 0
  return (text.match(/\||\s*[^\s|]+/g) ?? []).flatMap((word) => {
    const start = at
    at += word === '|' ? 3 : 0.5
    return word === '|' ? [] : [{ word, start, end: at, score: 0.9 }]
  })
}

const sentences = (text: string, language = 'en') =>
  sentencesOf(spoken(text), language).map((words) =>
    words
      .map(({ word }) => word)
      .join('')
      .trim(),
  )
const captions = (text: string, language = 'en') => captionsOf(spoken(text), language).map(({ word }) => word)

describe('sentences', () => {
  it.each<readonly [text: string, language: string, wanted: readonly string[]]>([
    [' Hello there. How are you? Fine!', 'en', ['Hello there.', 'How are you?', 'Fine!']],
    [
      ' Mr. Smith paid 3.5 dollars. J. R. Tolkien did not.',
      'en',
      ['Mr. Smith paid 3.5 dollars.', 'J. R. Tolkien did not.'],
    ],
    [' "Really?" She said so. (He did not.) Well', 'en', ['"Really?"', 'She said so.', '(He did not.)', 'Well']],
    [' Das ist Dr. Maier. Guten Tag!', 'de', ['Das ist Dr. Maier.', 'Guten Tag!']],
    [' no punctuation here | but a pause', 'en', ['no punctuation here', 'but a pause']],
    ['', 'en', []],
  ])('are told apart: %s', (text, language, wanted) => {
    expect(sentences(text, language)).toEqual(wanted)
  })

  it('are told apart where no blanks are written', () => {
    const words = [...'今日は。元気？'].map((word, i) => ({ word, start: i, end: i + 1, score: 1 }))
    expect(sentencesOf(words, 'ja').map((each) => each.map(({ word }) => word).join(''))).toEqual([
      '今日は。',
      '元気？',
    ])
  })

  it('of a segment without words share its time by their letters', () => {
    const words = wordsOf({ text: ' one three', start: 10, end: 20, score: 0.5 })
    expect(words.map(({ word }) => word)).toEqual([' one', ' three'])
    expect(words.map(({ start, end }) => [start, end])).toEqual([
      [10, 14],
      [14, 20],
    ])
  })
})

describe('captions', () => {
  const long =
    'This is a sentence that goes on for quite a while, with a comma in the middle of it, and that ends only after the second caption has begun.'

  it('are sentences where they fit', () => {
    expect(captions(' Hello there. How are you?')).toEqual(['Hello there.', 'How are you?'])
  })

  it('break at punctuation where a sentence is too long, else between words', () => {
    expect(captions(long)).toEqual([
      'This is a sentence that goes on for quite a while, with a comma in the middle of it,',
      'and that ends only after the second caption has begun.',
    ])
    const plain = captions(long.replaceAll(',', ''))
    expect(plain.join(' ')).toBe(long.replaceAll(',', ''))
    expect(plain.length).toBe(2)
    expect(captions(`Yes, ${long.replaceAll(',', '')}`)[0]!.length).toBeGreaterThan(70)
  })

  it('have 84 characters at most, whatever is said', () => {
    for (const text of [long.repeat(9), 'x'.repeat(500), `${'word '.repeat(300)}`, '語'.repeat(200)]) {
      const made = captions(text)
      expect(Math.max(...made.map((caption) => [...caption].length))).toBeLessThanOrEqual(84)
      expect(made.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
    }
  })

  it('are written as SubRip numbers and times them', () => {
    const file = subRip([
      { word: 'One.', start: 0, end: 1.5, score: 1 },
      { word: 'Two.', start: 3599.9996, end: 8000.25, score: 1 },
    ])
    expect(file).toBe('1\n00:00:00,000 --> 00:00:01,500\nOne.\n\n2\n01:00:00,000 --> 02:13:20,250\nTwo.\n')
  })
})
