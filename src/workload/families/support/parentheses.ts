/** Where the parentheses and colons of a prompt are, answered in constant time for any stretch of it. */
export interface Marks {
  opens(at: number): boolean
  closes(at: number): boolean
  /** Where the parenthesis that opens at `at` closes; undefined when it never does. */
  partner(at: number): number | undefined
  /** The last colon between `from` and `to`, if text stands before it and no parenthesis after it. */
  weightColon(from: number, to: number): number | undefined
}

/** One pass over `text`. `\(` and `\)` open and close nothing. */
export function markParentheses(text: string): Marks {
  const partners = new Int32Array(text.length).fill(PLAIN)
  const colons = new Int32Array(text.length + 1).fill(-1) // the last one before each place
  const parentheses = new Int32Array(text.length + 1).fill(-1)
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    const isParenthesis = (character === '(' || character === ')') && text[at - 1] !== '\\'
    colons[at + 1] = character === ':' ? at : colons[at]!
    parentheses[at + 1] = isParenthesis ? at : parentheses[at]!
    if (!isParenthesis) continue
    partners[at] = character === '(' ? OPEN : CLOSE
    if (character === '(') open.push(at)
    else if (open.length > 0) partners[open.pop()!] = at
  }
  return {
    opens: (at) => partners[at]! >= 0 || partners[at] === OPEN,
    closes: (at) => partners[at] === CLOSE,
    partner: (at) => (partners[at]! >= 0 ? partners[at] : undefined),
    weightColon(from, to) {
      const colon = colons[to]!
      return colon > from && parentheses[to]! < colon ? colon : undefined
    },
  }
}

/** What stands in place of a partner: not a parenthesis, one that never closes, one that closes. */
const PLAIN = -1
const OPEN = -2
const CLOSE = -3
