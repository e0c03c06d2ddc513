import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Auth } from '../../../src/contracts/credentials.ts'
import { authFor, headersOf, maskedUrl, withQuery } from '../../../src/workload/base/credentials.ts'

const bearer = (token: string): Auth => ({ type: 'bearer', token })
const matches = (url_pattern: string, url: string) => authFor([{ url_pattern, auth: bearer('t') }], url) !== undefined

/** The same by trying everything: right for short texts. */
function slowly(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern.startsWith('**')) return slowly(pattern.slice(2), text) || (text !== '' && slowly(pattern, text.slice(1)))
  if (pattern.startsWith('*'))
    return slowly(pattern.slice(1), text) || (text !== '' && text[0] !== '/' && slowly(pattern, text.slice(1)))
  return text !== '' && (pattern[0] === '?' || pattern[0] === text[0]) && slowly(pattern.slice(1), text.slice(1))
}

describe('a pattern of a URL', () => {
  it.each([
    ['https://host/**', 'https://host/a/b?c=d', true],
    ['https://host/**', 'https://host', false],
    ['https://host/*', 'https://host/a/b', false],
    ['https://host/*', 'https://host/', true],
    ['https://*.host/**/x', 'https://a.host/b/c/x', true],
    ['https://*.host/**', 'https://evil/a.host/b', false],
    ['https://host/a?b', 'https://host/a?b', true],
    ['https://host/a?b', 'https://host/a/b', true],
    ['https://host/a', 'https://host/a/', false],
    ['https://host', 'xhttps://host', false],
    ['https://host/[a-z]+.$', 'https://host/[a-z]+.$', true],
    ['https://host/[a-z]+.$', 'https://host/abc1', false],
    ['s3://bucket/**', 's3://bucket/a b/ü', true],
    ['**', '', true],
    ['?', '🙂', true],
    ['***', 'a/b', true],
  ])('%s and %s: %s', (pattern, url, expected) => {
    expect(matches(pattern, url)).toBe(expected)
  })

  it('matches what trying everything would find', () => {
    const text = (...letters: readonly string[]) =>
      fc.array(fc.constantFrom(...letters), { maxLength: 8 }).map((each) => each.join(''))
    fc.assert(
      fc.property(text('a', 'b', '/', '*', '**', '?'), text('a', 'b', '/', '.'), (pattern, url) => {
        expect(matches(pattern, url)).toBe(slowly(pattern, url))
      }),
      { numRuns: 2000 },
    )
  })

  it('always stands for itself, and with ** for everything it begins', () => {
    const literal = fc.string({ unit: 'grapheme' }).filter((text) => !/[*?]/.test(text))
    fc.assert(
      fc.property(literal, fc.string(), (url, rest) => {
        expect(matches(url, url)).toBe(true)
        expect(matches(`${url}**`, url + rest)).toBe(true)
      }),
    )
  })

  it('takes no longer for being made to', () => {
    const begin = performance.now()
    for (const part of ['*a', '**a', '?*', '**/*'])
      expect(matches(`${part.repeat(500)}!`, 'a/'.repeat(1000))).toBe(false)
    expect(performance.now() - begin).toBeLessThan(5000)
  })

  it('that comes first wins', () => {
    const entries = ['https://other/**', 'https://host/a', '**'].map((url_pattern, index) => ({
      url_pattern,
      auth: bearer(`${index}`),
    }))
    expect(authFor(entries, 'https://host/a')).toEqual(bearer('1'))
    expect(authFor(entries, 'https://host/b')).toEqual(bearer('2'))
    expect(authFor(entries.slice(0, 2), 'https://host/b')).toBeUndefined()
  })
})

describe('who asks', () => {
  it('is shown as a header', () => {
    expect(headersOf(bearer('abc'))).toEqual({ authorization: 'Bearer abc' })
    expect(headersOf({ type: 'basic', username: 'Aladdin', password: 'open sesame' })).toEqual({
      authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
    })
    expect(headersOf({ type: 'header', header_name: 'X-Key', header_value: 'v' })).toEqual({ 'x-key': 'v' })
  })

  it('is shown in the query, which keeps the spelling of the rest', () => {
    const auth: Auth = { type: 'query', query_param: 'to ken', query_value: 'a&b=c' }
    expect(headersOf(auth)).toEqual({})
    const asked = (url: string) => withQuery(new URL(url), auth).href
    expect(asked('https://host/a?x=%20y&to+ken=old&z')).toBe('https://host/a?x=%20y&z&to+ken=a%26b%3Dc')
    expect(asked('https://host/a')).toBe('https://host/a?to+ken=a%26b%3Dc')
  })

  it('is nobody without credentials', () => {
    expect(headersOf(undefined)).toEqual({})
    expect(withQuery(new URL('https://host/a?b'), undefined).href).toBe('https://host/a?b')
  })
})

describe('a URL that is told to others', () => {
  it.each([
    ['https://user:secret@host:8080/a/b?token=secret&x=secret#secret', 'https://host:8080/a/b?token=***&x=***'],
    ['https://a@secret@host/', 'https://host/'],
    ['https://host?secret', 'https://host?***'],
    ['https:\\\\user:secret@host\\a', 'https://host\\a'],
    ['s3://bucket/a/b c.png', 's3://bucket/a/b c.png'],
    ['data:image/png;base64,secret', '***'],
    ['secret', '***'],
    ['', '***'],
  ])('has no secrets: %s', (url, masked) => {
    expect(maskedUrl(url)).toBe(masked)
  })
})
