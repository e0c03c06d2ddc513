import fc from 'fast-check'
import { logSeverities } from '../../src/contracts/platform/log-entry.ts'

/** A log entry as a query sees it. */
export interface PlainEntry {
  readonly severity: (typeof logSeverities)[number]
  readonly resource_type: string
  readonly labels: Readonly<Record<string, string>>
  readonly text_log?: string
  readonly json_log?: Readonly<Record<string, unknown>>
}

/** A query, and what it means, said again in another way. */
export interface MeaningfulQuery {
  readonly text: string
  readonly matches: (entry: PlainEntry) => boolean
}

/** Few, so that entries and queries meet. */
const words = ['', 'a', 'A', 'ab', 'Äb', 'äB', 'b"\\', '%', 'a_b', '7', '-7.50', '1e1', 'true', 'error', 'ß\n']
const names = ['a', 'b-c', 'd e.f']

const anyWord = fc.constantFrom(...words)
const anyValue = fc.oneof(anyWord, fc.constantFrom(7, -7.5, 10, 0.25, true, false, null, [7], {}))

const someMembers = <T>(value: fc.Arbitrary<T>) =>
  fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3, noNullPrototype: true })

export const anyEntry: fc.Arbitrary<PlainEntry> = fc
  .record({
    severity: fc.constantFrom(...logSeverities),
    resource_type: fc.constantFrom('container', 'instance_controller', 'a'),
    labels: someMembers(anyWord),
    content: fc.oneof(
      anyWord.map((text_log) => ({ text_log })),
      someMembers(fc.oneof(anyValue, someMembers(anyValue))).map((json_log) => ({ json_log })),
    ),
  })
  .map(({ content, ...entry }) => ({ ...entry, ...content }))

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const member = (name: string): string => (/^[\w-]+$/.test(name) ? name : quoted(name))

/** What stands in a field as text; undefined where nothing does that could be compared. */
type Read = (entry: PlainEntry) => string | undefined

const plain = (value: unknown): string | undefined =>
  typeof value === 'object' || value === undefined ? undefined : String(value)

const within = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) && Object.hasOwn(inner, name)
        ? (inner as Record<string, unknown>)[name]
        : undefined,
    value,
  )

const anyName = fc.constantFrom(...names)
const anyField: fc.Arbitrary<readonly [text: string, read: Read]> = fc.oneof(
  fc.constant<readonly [string, Read]>(['text_log', ({ text_log }) => text_log]),
  fc.constant<readonly [string, Read]>(['resource.type', ({ resource_type }) => resource_type]),
  anyName.map((name): [string, Read] => [`resource.labels.${member(name)}`, ({ labels }) => labels[name]]),
  fc
    .array(anyName, { minLength: 1, maxLength: 2 })
    .map((path): [string, Read] => [
      ['json_log', ...path.map(member)].join('.'),
      ({ json_log }) => plain(within(json_log, path)),
    ]),
)

const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i
const verbs: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  contains: (text, part) => text.includes(part),
  startswith: (text, part) => text.startsWith(part),
  endswith: (text, part) => text.endsWith(part),
}
const orders: Readonly<Record<string, (difference: number) => boolean>> = {
  '=': (difference) => difference === 0,
  '>': (difference) => difference > 0,
  '<': (difference) => difference < 0,
  '>=': (difference) => difference >= 0,
  '<=': (difference) => difference <= 0,
}

const byCodePoints = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** A comparison with a text between quotes, or with a number. */
const anyComparison: fc.Arbitrary<readonly [text: string, holds: (field: string) => boolean]> = fc
  .record({
    verb: fc.constantFrom('=', '>', '<', '>=', '<=', 'contains', 'startswith', 'endswith'),
    ignoresCase: fc.boolean(),
    value: fc.oneof(anyWord, fc.constantFrom(7, -7.5, 10, 0.25)),
  })
  .map(({ verb, ignoresCase, value }) => {
    const folds = ignoresCase && !/[<>]/.test(verb)
    const fold = (text: string): string => (folds ? text.toLowerCase() : text)
    const text = `${verb}${folds ? '~' : ''} ${typeof value === 'number' ? value : quoted(value)}`
    const test = verbs[verb]
    if (test) return [text, (field) => test(fold(field), fold(String(value)))]
    const order = orders[verb]!
    if (typeof value === 'string') return [text, (field) => order(byCodePoints(fold(field), fold(value)))]
    return [text, (field) => isNumber.test(field) && order(Number(field) - value)]
  })

/** `verb value` behind a field, perhaps negated; comparisons by size have no negated form. */
const anyCondition: fc.Arbitrary<MeaningfulQuery> = fc
  .tuple(anyField, anyComparison, fc.boolean())
  .map(([[field, read], [comparison, holds], negated]) => {
    const isNegated = negated && !/^[<>]/.test(comparison)
    return {
      text: `${field} ${isNegated ? '!' : ''}${comparison}`,
      matches: (entry) => {
        const value = read(entry)
        return (value !== undefined && holds(value)) !== isNegated
      },
    }
  })

const anySeverityCondition: fc.Arbitrary<MeaningfulQuery> = fc
  .tuple(fc.constantFrom(...Object.keys(orders)), fc.constantFrom(...logSeverities))
  .map(([sign, name]) => ({
    text: `severity${sign}"${name}"`,
    matches: ({ severity }) => orders[sign]!(logSeverities.indexOf(severity) - logSeverities.indexOf(name)),
  }))

const negated = ({ text, matches }: MeaningfulQuery): MeaningfulQuery => ({
  text: `not ${text}`,
  matches: (entry) => !matches(entry),
})

const inParentheses = ({ text, matches }: MeaningfulQuery): MeaningfulQuery => ({ text: `( ${text})`, matches })

const joined =
  (word: 'and' | 'or') =>
  (parts: readonly MeaningfulQuery[]): MeaningfulQuery => ({
    text: parts.map(({ text }) => text).join(` ${word} `),
    matches: (entry) =>
      word === 'and' ? parts.every(({ matches }) => matches(entry)) : parts.some(({ matches }) => matches(entry)),
  })

/** Any query of the grammar of section 25.3. */
export const anyLogQuery: fc.Arbitrary<MeaningfulQuery> = fc.letrec<{ query: MeaningfulQuery; term: MeaningfulQuery }>(
  (tie) => {
    const few = { minLength: 1, maxLength: 3 }
    const factor = fc.tuple(tie('term'), fc.boolean()).map(([term, no]) => (no ? negated(term) : term))
    return {
      query: fc.array(fc.array(factor, few).map(joined('and')), few).map(joined('or')),
      term: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        { weight: 3, arbitrary: anyCondition },
        { weight: 1, arbitrary: anySeverityCondition },
        { weight: 1, arbitrary: tie('query').map(inParentheses) },
      ),
    }
  },
).query
