import type { Response } from 'express'

/** How deep arrays and objects may nest; deeper ones would exhaust the stack of whatever walks them later. */
const MAX_DEPTH = 512
/** Longer integers cost quadratic time to read. */
const MAX_DIGITS = 4300
/** Begins the strings that stand for long integers while a text is parsed; no other string may hold a lone surrogate. */
const MARK = '\udc00'

/**
 * Parses JSON without losing an integer: those beyond ±2^53 become bigint, for what users store is theirs to the last
 * digit. Throws a SyntaxError for what is no JSON and for what the database or a copy could not hold: deeper nesting than
 * 512, a key `__proto__`, the character U+0000, half a surrogate pair.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  inspect(value)
  if (!/\d{16}/.test(text)) return value
  return JSON.parse(markLongIntegers(text), (_key, member: unknown) =>
    typeof member === 'string' && member.startsWith(MARK) ? BigInt(member.slice(1)) : member,
  )
}

function inspect(root: unknown): void {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new SyntaxError(`arrays and objects nest deeper than ${MAX_DEPTH}`)
    const below: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string') inspectText(value)
      if (typeof value !== 'object' || value === null) continue
      if (Object.hasOwn(value, '__proto__')) throw new SyntaxError('the key "__proto__" is not allowed')
      if (!Array.isArray(value)) Object.keys(value).forEach(inspectText)
      for (const member of Object.values(value)) below.push(member)
    }
    level = below
  }
}

function inspectText(text: string): void {
  if (text.includes('\0')) throw new SyntaxError('the character U+0000 is not allowed')
  if (/\p{Surrogate}/u.test(text)) throw new SyntaxError('half a surrogate pair is not allowed')
}

/** Writes every integer of `text`, which is valid JSON, that a double cannot hold as a marked string. */
function markLongIntegers(text: string): string {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const quote = text.indexOf('"', from)
    const end = quote < 0 ? text.length : quote
    pieces.push(text.slice(from, end).replace(/-?\d+(?:[.eE][\d.eE+-]*)?/g, markedIfLong))
    from = quote < 0 ? text.length : endOfString(text, quote)
    pieces.push(text.slice(end, from))
  }
  return pieces.join('')
}

function markedIfLong(number: string): string {
  if (number.length < 16 || /[.eE]/.test(number) || Number.isSafeInteger(Number(number))) return number
  if (number.length > MAX_DIGITS) throw new SyntaxError(`an integer has more than ${MAX_DIGITS} digits`)
  return `"${MARK}${number}"`
}

/** The index behind the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return end + 1
  }
}

/** Writes plain data as JSON: bigints as their digits, dates as ISO 8601 in UTC. Undefined members are left out. */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(',')}]`
  if (typeof value !== 'object' || value === null || value instanceof Date) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stringifyJson(member)}`).join(',')}}`
}

/** Ends an answer with plain data; see `stringifyJson`. */
export function sendJson(response: Response, body: unknown, type = 'application/json'): void {
  response.setHeader('content-type', type) // Express would add a character set
  response.end(stringifyJson(body))
}
