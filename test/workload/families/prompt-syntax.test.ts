import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseWeights } from '../../../src/workload/families/support/prompt-syntax.ts'

const read = (prompt: string) => parseWeights(prompt).map(({ text, weight }) => [text, weight])

describe('the weights of a prompt', () => {
  it.each<[prompt: string, ...(readonly [string, number])[]]>([
    ['a cat', ['a cat', 1]],
    ['A (red:1.3) car, ((blue)) sky', ['A ', 1], ['red', 1.3], [' car, ', 1], ['blue', 1.1 * 1.1], [' sky', 1]],
    ['(a (b:2))', ['a ', 1.1], ['b', 2]],
    ['((a:0.5) b:3)', ['a', 0.5], [' b', 3]],
    ['(a:b:1.5)', ['a:b', 1.5]],
    ['[less] BREAK', ['[less] BREAK', 1]],
  ])('%s: a pair of parentheses counts 1.1, a number counts itself', (prompt, ...expected) => {
    expect(read(prompt)).toEqual(expected)
  })

  it.each([
    ['(a:1e3)', 'a', 1000],
    ['(a:.5)', 'a', 0.5],
    ['(a:2.)', 'a', 2],
    ['(a:+1_0.2_5)', 'a', 10.25],
    ['(a: 1.5 )', 'a', 1.5],
    ['(a:-1)', 'a', -1],
    ['(a:0)', 'a', 0],
    ['(a:inf)', 'a', Number.POSITIVE_INFINITY],
    ['(a:-Infinity)', 'a', Number.NEGATIVE_INFINITY],
    ['(a:NaN)', 'a', Number.NaN],
    ['(a:１.２)', 'a', 1.2],
    ['(a:٢)', 'a', 2],
    ['(a:𝟙𝟡)', 'a', 19],
  ])("%s has a weight, as Python's float() reads it", (prompt, text, weight) => {
    expect(read(prompt)).toEqual([[text, weight]])
  })

  it.each(['a:', ':1.2', 'a:x', 'a:1_', 'a:_1', 'a:1__0', 'a:1_.5', 'a:0x1', 'a:1,5', 'a:1 2', 'a:e5', 'a:.', 'a:²'])(
    '(%s) has no readable weight, and all of it is text',
    (text) => {
      expect(read(`(${text})`)).toEqual([[text, 1.1]])
    },
  )

  it('takes escaped parentheses for text', () => {
    expect(read(String.raw`escaped \(paren\) (x)`)).toEqual([
      ['escaped (paren) ', 1],
      ['x', 1.1],
    ])
    expect(read(String.raw`(a \) b\(:1.4)`)).toEqual([['a ) b(', 1.4]])
  })

  it('takes parentheses without a partner for text', () => {
    expect(read('(no close')).toEqual([['(no close', 1]])
    expect(read('close) early')).toEqual([['close) early', 1]])
    expect(read('a) (b) c')).toEqual([['a) (b) c', 1]])
    expect(read(')((b))')).toEqual([
      [')(', 1],
      ['b', 1.1],
      [')', 1],
    ])
  })

  it('reads a group that never closes as closed where the prompt ends with a parenthesis', () => {
    expect(read('x (a (b)')).toEqual([
      ['x ', 1],
      ['a ', 1.1],
      ['(b', 1.1],
    ])
  })

  it('finds nothing in nothing', () => {
    expect([read(''), read('()'), read('(())')]).toEqual([[], [], []])
  })

  it('reads any prompt as the rules do when followed to the letter', () => {
    const prompts = fc.string({ unit: fc.constantFrom('(', ')', '(', ')', '\\', ':', '1', '.', 'a', ' ') })
    fc.assert(
      fc.property(prompts, (prompt) => {
        expect(read(prompt)).toEqual(readLiterally(protect(prompt), 1))
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['pairs', (depth: number) => `${'('.repeat(depth)}x${')'.repeat(depth)}`],
    ['openings', (depth: number) => '('.repeat(depth)],
    ['closings', (depth: number) => ')'.repeat(depth)],
    ['pairs with colons', (depth: number) => `${'(a:'.repeat(depth)}1${')'.repeat(depth)}`],
  ])('reads 100,000 nested %s without running out of stack or time', { timeout: 10_000 }, (_, nested) => {
    expect(parseWeights(nested(100_000)).length).toBeGreaterThan(0)
  })
})

/** Escaped parentheses as characters that no prompt of these tests has. */
const protect = (prompt: string) => prompt.replaceAll('\\)', '}').replaceAll('\\(', '{')

/** The rules one by one: cut at the outermost parentheses, then read each group in the same way. */
function readLiterally(prompt: string, weight: number): readonly (readonly [string, number])[] {
  return cutAtParentheses(prompt).flatMap((item) => {
    if (!/^\(.*\)$/.test(item)) return [[item.replaceAll('}', ')').replaceAll('{', '('), weight] as const]
    const [, text = '', number] = /^\((.+):(\s*(?:\d+\.?\d*|\.\d+)\s*)\)$/.exec(item) ?? []
    return number ? readLiterally(text, Number(number)) : readLiterally(item.slice(1, -1), weight * 1.1)
  })
}

function cutAtParentheses(prompt: string): readonly string[] {
  const items: string[] = []
  let [item, depth] = ['', 0]
  for (const character of prompt) {
    if (character === '(' && depth++ === 0) {
      items.push(item)
      item = ''
    }
    item += character
    if (character === ')' && --depth === 0) {
      items.push(item)
      item = ''
    }
  }
  return [...items, item].filter((text) => text !== '')
}
