import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadClipTokenizer } from '../../../src/workload/families/support/clip-tokenizer.ts'

const clip = await loadClipTokenizer()

describe('the CLIP tokenizer', () => {
  it('gives the ids of the reference', () => {
    expect(clip.tokenize('a photo of a cat')).toEqual([320, 1125, 539, 320, 2368])
    expect(clip.tokenize("don't I'll we've 123")).toEqual([847, 713, 328, 1342, 649, 1200, 272, 273, 274])
  })

  it.each([
    ['small letters and spaces of any kind', 'A\tPHOTO\u00a0 of\u3000a\n cat ', 'a photo of a cat'],
    ['accents written in one character or in two', 'cafe\u0301 nai\u0308ve', 'café naïve'],
  ])('reads %s alike', (_, one, other) => {
    expect(clip.tokenize(one)).toEqual(clip.tokenize(other))
  })

  it('knows frequent emoji and spells the others and other scripts in bytes', () => {
    expect(clip.tokenize('🎉🎉🎉')).toEqual([20828])
    expect(clip.tokenize('日本語 😀')).toEqual([39121, 44353, 34002, 508, 7334])
  })

  it('ends a Greek word with the same sigma it has elsewhere', () => {
    expect(clip.tokenize('ΟΔΟΣ')).toEqual(clip.tokenize('οδοσ'))
  })

  it('takes the names of the special tokens for the tokens, in small letters only', () => {
    expect(clip.tokenize('x<|startoftext|>!!<|endoftext|>')).toEqual([343, 49406, 748, 49407])
    expect(clip.tokenize('<|ENDOFTEXT|>')).toEqual([27, 347, 40786, 4160, 91, 285])
  })

  it('keeps special characters of web pages as they are', () => {
    expect(clip.tokenize('&amp;')).toEqual([261, 6259, 282])
  })

  it('tokenises whatever text there is to ids of the vocabulary', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: loneSurrogates })), (text) => {
        expect(clip.tokenize(text).every((id) => Number.isInteger(id) && id >= 0 && id < 49408)).toBe(true)
      }),
    )
  })

  it('reads words one by one: neighbours change nothing', () => {
    const word = fc.stringMatching(/^[a-z]{1,20}$/)
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(clip.tokenize(`${one} ${other}`)).toEqual([...clip.tokenize(one), ...clip.tokenize(other)])
      }),
    )
  })

  it('reads a word of 200,000 letters in seconds', { timeout: 10_000 }, () => {
    expect(clip.tokenize('a'.repeat(200_000))).toHaveLength(25_001)
  })
})

const loneSurrogates = fc.constantFrom('\ud83d', '\ude00', 'a', ' ')
