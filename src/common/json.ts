/** How deep arrays and objects may nest; deeper ones would exhaust the stack of whatever walks them later. */
const MAX_DEPTH = 512
/** Longer integers cost quadratic time to read, and no input has room for them. */
const MAX_DIGITS = 4300
/** A private-use character that texts do not begin with; where one does, another mark is taken. */
const MARK = '\ue000'

/**
 * Parses JSON without losing an integer: those beyond ±2^53 become bigint. Throws a SyntaxError for what is no JSON,
 * nests deeper than 512, or has a key `__proto__`, which could change objects it is copied into.
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const taken = inspect(value)
  if (!/\d{16}/.test(text)) return value
  let mark = `${MARK}0:`
  for (let i = 1; taken.has(mark); i++) mark = `${MARK}${i}:`
  const marked = markLongIntegers(text, mark)
  if (marked === text) return value
  return JSON.parse(marked, (_key, entry: unknown) =>
    typeof entry === 'string' && entry.startsWith(mark) ? BigInt(entry.slice(mark.length)) : entry,
  )
}

/** Refuses what is not safe to walk or copy, and returns the marks that strings already begin with. */
function inspect(root: unknown): ReadonlySet<string> {
  const taken = new Set<string>()
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new SyntaxError(`arrays and objects nest deeper than ${MAX_DEPTH}`)
    const below: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string' && value.startsWith(MARK)) taken.add(value.slice(0, value.indexOf(':') + 1))
      if (typeof value !== 'object' || value === null) continue
      if (Object.hasOwn(value, '__proto__')) throw new SyntaxError('the key "__proto__" is not allowed')
      for (const entry of Object.values(value)) below.push(entry)
    }
    level = below
  }
  return taken
}

/** Writes every long integer of `text`, which is valid JSON, as a string that begins with `mark`. */
function markLongIntegers(text: string, mark: string): string {
  const pieces: string[] = []
  let from = 0
  while (from < text.length) {
    const quote = text.indexOf('"', from)
    const end = quote < 0 ? text.length : quote
    pieces.push(text.slice(from, end).replace(/-?\d+(?:[.eE][\d.eE+-]*)?/g, (number) => markedIfLong(number, mark)))
    if (quote < 0) break
    from = endOfString(text, quote)
    pieces.push(text.slice(quote, from))
  }
  return pieces.join('')
}

function markedIfLong(number: string, mark: string): string {
  if (number.length < 16 || /[.eE]/.test(number) || Number.isSafeInteger(Number(number))) return number
  if (number.length > MAX_DIGITS) throw new SyntaxError(`an integer has more than ${MAX_DIGITS} digits`)
  return `"${mark}${number}"`
}

/** The index behind the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return end + 1
  }
}

/** Writes plain data as JSON: bigints as their digits, dates as ISO 8601 in UTC. Members that are undefined are left out. */
export function stringifyExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(stringifyExact).join(',')}]`
  if (typeof value !== 'object' || value === null || value instanceof Date) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stringifyExact(member)}`).join(',')}}`
}
