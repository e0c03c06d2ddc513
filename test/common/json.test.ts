import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExact, stringifyExact } from '../../src/common/json.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('parseExact', () => {
  it('keeps integers beyond 2^53 and leaves all other numbers to JSON', () => {
    expect(
      parseExact('{"seed": 18446744073709551615, "low":-9007199254740993,"safe":9007199254740991, "f":1.5e300}'),
    ).toEqual({ seed: 18446744073709551615n, low: -9007199254740993n, safe: 9007199254740991, f: 1.5e300 })
    expect(parseExact('1234567890123456789.0')).toBe(1234567890123456800)
    expect(parseExact('12345678901234567e1')).toBe(Number('12345678901234567e1'))
  })

  it('does not take digits in texts and keys for integers', () => {
    const text = '{"99999999999999999999": "\\"18446744073709551615", "b\\\\": "77777777777777777777", "n": 1}'
    expect(parseExact(text)).toEqual(JSON.parse(text))
  })

  it('cannot be led to read a text as an integer', () => {
    const forged = ['\ue0000:18446744073709551615', '\ue0001:7', '\ue000', '\\ue0002:1']
    const text = JSON.stringify(forged).replace(/]$/, ',18446744073709551615]')
    expect(parseExact(text)).toEqual([...forged, 18446744073709551615n])
  })

  it.each([
    ['', 'end of JSON'],
    ['{"a":1', 'JSON'],
    ['{"a":18446744073709551615', 'JSON'],
    [`[${'9'.repeat(5000)}]`, '4300 digits'],
    ['{"a":[{"__proto__":{"x":1}}]}', '__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    [nested(600), 'deeper'],
    [nested(100_000), 'deeper'],
  ])('refuses %.30s', (text, reason) => {
    expect(() => parseExact(text)).toThrow(SyntaxError)
    expect(() => parseExact(text)).toThrow(reason)
  })

  it('lets texts speak of __proto__, and nests as deep as people do', () => {
    expect(parseExact('["__proto__"]')).toEqual(['__proto__'])
    expect(() => parseExact(nested(200))).not.toThrow()
  })

  it('reads 100 MB with a long integer in it in about the time JSON takes', () => {
    const text = `{"image": "${'iVBORw0K'.repeat(12_500_000)}", "seed": 18446744073709551615}`
    const began = performance.now()
    expect(parseExact(text)).toMatchObject({ seed: 18446744073709551615n })
    expect(performance.now() - began).toBeLessThan(3000)
  })
})

it('writes what it reads: a round trip changes nothing', () => {
  // Long integers are what the second value is for, and the key __proto__ is refused.
  const isPlain = (value: unknown) => !/(?<![\d.])\d{16,}(?![\d.e])|"__proto__":/.test(JSON.stringify(value))
  fc.assert(
    fc.property(fc.jsonValue().filter(isPlain), fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value, integer) => {
      const big = integer > 2n ** 53n || integer < -(2n ** 53n) ? integer : Number(integer)
      const read = parseExact(stringifyExact({ value, big, list: [big] }))
      expect(read).toEqual({ value: JSON.parse(JSON.stringify(value)), big, list: [big] })
    }),
    { numRuns: 300 },
  )
})
