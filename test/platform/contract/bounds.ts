import type { Bound } from './operation.ts'

/** An integer from `least` to `most`. */
export const integer = (member: string, least: number, most: number, within?: object): Bound => ({
  member,
  accepted: [least, most],
  refused: [least - 1, most + 1],
  wrong: [least + 0.5, `${least}`],
  ...(within && { within }),
})

/** A text of so many characters, each of which may be `letter`. */
export const text = (member: string, least: number, most: number, within?: object, letter = 'x'): Bound => ({
  member,
  accepted: [letter.repeat(least), letter.repeat(most)],
  refused: [...(least === 0 ? [] : [letter.repeat(least - 1)]), letter.repeat(most + 1)],
  wrong: [1],
  ...(within && { within }),
})

/** A list of so many items, made by their index. */
export function list(
  member: string,
  [least, most]: readonly [number, number],
  item: (i: number) => unknown,
  within?: object,
): Bound {
  const of = (length: number) => Array.from({ length }, (_, i) => item(i))
  const refused = [...(least === 0 ? [] : [of(least - 1)]), of(most + 1)]
  return { member, accepted: [of(least), of(most)], refused, wrong: [{}], ...(within && { within }) }
}

/** One of these words. */
export const oneOf = (member: string, words: readonly string[], within?: object): Bound => ({
  member,
  accepted: words,
  refused: ['nothing'],
  wrong: [words[0]!.toUpperCase(), 1, ''],
  ...(within && { within }),
})

export const flag = (member: string, within?: object): Bound => ({
  member,
  accepted: [true, false],
  refused: ['true'],
  wrong: [1, {}],
  ...(within && { within }),
})

/** An absolute http or https URL of at most 2048 characters. */
export const url = (member: string): Bound => ({
  member,
  accepted: ['http://a.b/', `HTTPS://a.test/${'x'.repeat(2048 - 15)}`],
  refused: [`https://a.test/${'x'.repeat(2049 - 15)}`, ''],
  wrong: ['ftp://a.test/x', '/relative', 'a.test', 'https://', 1],
})

/** A name of section 2.2, long and short. */
export const name = (member: string): Bound => ({
  member,
  accepted: ['z9', `z-${'a'.repeat(61)}`],
  refused: ['a', `a${'a'.repeat(63)}`],
  wrong: ['9a', 'a-', 'Aa', 'a_b', '', 1],
  within: {}, // each can be taken once, so it is not tried together with others
})

/** The same bounds, to be tried only where time does not matter: what they say is said elsewhere in much the same way. */
export const rare = (bounds: readonly Bound[]): readonly Bound[] => bounds.map((bound) => ({ ...bound, isRare: true }))
