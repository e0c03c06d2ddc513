import { SPACE } from './python-text.ts'

/** The flags of Python's `re` that nodes offer. */
export interface RegexFlags {
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
}

/** A pattern that Python would refuse. */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern'
}

/** A JavaScript pattern and its flags. */
export interface Translated {
  readonly source: string
  readonly flags: string
}

type Scope = RegexFlags & { readonly ascii: boolean; readonly verbose: boolean }

const FLAG_NAMES = { i: 'ignoreCase', m: 'multiline', s: 'dotAll', a: 'ascii', x: 'verbose' } as const
/** What classes hold, Unicode and ASCII. */
const CLASSES = { d: ['\\p{Nd}', '0-9'], w: ['\\p{L}\\p{N}_', 'a-zA-Z0-9_'], s: [SPACE, '\\t-\\r\\x20'] } as const
const START = String.raw`(?<![\s\S])`
const END = String.raw`(?![\s\S])`

/**
 * A pattern of Python's `re` as a JavaScript one that finds the same. Throws InvalidPattern for what Python refuses, and
 * an Error for the few things that JavaScript has no counterpart of.
 */
export function translatePattern(pattern: string, flags: RegexFlags): Translated {
  const characters = Array.from(pattern)
  let at = 0
  let scope: Scope = { ...flags, ascii: false, verbose: false }
  const scopes: Scope[] = []
  const global = /^\(\?([aimsxu]+)\)/.exec(pattern)
  if (global) {
    scope = withFlags(scope, global[1]!, true)
    at = global[0].length
  }
  const { ignoreCase } = scope
  const peek = (text: string) => text === characters.slice(at, at + text.length).join('')
  const until = (end: string, from: number): string => {
    const close = characters.indexOf(end, from)
    if (close < 0) throw new InvalidPattern(`missing ${end}`)
    at = close + 1
    return characters.slice(from, close).join('')
  }

  /** What stands behind `(?`. */
  const extension = (): string => {
    if (peek('P<')) return `(?<${nameOf(until('>', at + 2))}>`
    if (peek('P=')) {
      scopes.pop() // the parenthesis ends here
      return `\\k<${nameOf(until(')', at + 2))}>`
    }
    if (peek('#')) {
      scopes.pop()
      until(')', at)
      return ''
    }
    const look = ['<=', '<!', ':', '=', '!'].find(peek)
    if (look !== undefined) {
      at += look.length
      return `(?${look}`
    }
    const local = /^([aimsxu]*)(?:-([imsx]+))?:/.exec(characters.slice(at).join(''))
    if (peek('>') || peek('(')) throw unsupported(`(?${characters[at]}`)
    if (!local) throw new InvalidPattern(`(?${characters[at] ?? ''} means nothing`)
    at += local[0].length
    scope = withFlags(withFlags(scope, local[1]!, true), local[2] ?? '', false)
    if (scope.ignoreCase !== ignoreCase) throw unsupported('(?i: in part of a pattern')
    return '(?:'
  }

  const membersOf = (letter: string) => CLASSES[letter.toLowerCase() as keyof typeof CLASSES][scope.ascii ? 1 : 0]

  /** What a backslash and the characters behind it stand for; `inClass` within brackets. */
  const escaped = (inClass: boolean): string => {
    const letter = characters[at++]
    if (letter === undefined) throw new InvalidPattern('a backslash ends the pattern')
    if (/[dws]/i.test(letter))
      return inClass ? membersOf(letter) : `[${/[DWS]/.test(letter) ? '^' : ''}${membersOf(letter)}]`
    if (!inClass) {
      const word = CLASSES.w[scope.ascii ? 1 : 0]
      if (letter === 'A') return START
      if (letter === 'Z') return END
      if (letter === 'b') return `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`
      if (letter === 'B') return `(?:(?<=[${word}])(?=[${word}])|(?<![${word}])(?![${word}]))`
      const octal = /^[0-3][0-7]{2}/.test(characters.slice(at - 1, at + 2).join(''))
      if (!octal && /[1-9]/.test(letter)) {
        const digits = /^\d?/.exec(characters[at] ?? '')![0]
        at += digits.length
        return `(?:\\${letter}${digits})`
      }
    }
    at--
    return literal(codeAt())
  }

  /** The code point that the escape at `at`, behind its backslash, stands for. */
  const codeAt = (): number => {
    const rest = characters.slice(at).join('')
    const hex = /^(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8}))/i.exec(rest)
    if (hex && 'xuU'.includes(rest[0]!)) {
      at += hex[0].length
      return Number.parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16)
    }
    const octal = /^(?:0[0-7]{0,2}|[0-3][0-7]{2})/.exec(rest)
    if (octal) {
      at += octal[0].length
      return Number.parseInt(octal[0], 8)
    }
    const letter = characters[at++]!
    const control = 'abfnrtv'.indexOf(letter)
    if (control >= 0) return [7, 8, 12, 10, 13, 9, 11][control]!
    if (/[a-z0-9]/i.test(letter)) throw new InvalidPattern(`\\${letter} means nothing`)
    return letter.codePointAt(0)!
  }

  const bracket = (): string => {
    const negated = peek('^')
    if (negated) at++
    let members = ''
    const complements: string[] = []
    for (let first = true; first || !peek(']'); first = false) {
      const character = characters[at++]
      if (character === undefined) throw new InvalidPattern('missing ]')
      if (character !== '\\') members += character === '-' ? '-' : literal(character.codePointAt(0)!)
      else if (/[DWS]/.test(characters[at] ?? '')) complements.push(`[^${membersOf(characters[at++]!)}]`)
      else members += escaped(true)
    }
    at++
    if (complements.length === 0) return `[${negated ? '^' : ''}${members}]`
    const any = [...(members === '' ? [] : [`[${members}]`]), ...complements].join('|')
    return negated ? `(?:(?!${any})[\\s\\S])` : `(?:${any})`
  }

  /** A quantifier that begins with `first`; what only looks like one is a brace. */
  const quantifier = (first: string): string => {
    const bounds = first === '{' ? /^(?:(\d+)(,\d*)?|(,\d+))\}/.exec(characters.slice(at, at + 24).join('')) : undefined
    if (bounds === null) return '\\{'
    at += bounds?.[0].length ?? 0
    if (peek('+')) throw unsupported('possessive quantifier')
    const lazy = peek('?') ? '?' : ''
    at += lazy.length
    return `${first}${bounds ? `${bounds[1] ?? '0'}${bounds[2] ?? bounds[3] ?? ''}}` : ''}${lazy}`
  }

  const one = (): string => {
    const character = characters[at++]!
    if (scope.verbose && /\s/.test(character)) return ''
    if (scope.verbose && character === '#') {
      while (at < characters.length && characters[at] !== '\n') at++
      return ''
    }
    switch (character) {
      case '\\':
        return escaped(false)
      case '[':
        return bracket()
      case '(':
        scopes.push(scope)
        if (!peek('?')) return '('
        at++
        return extension()
      case ')':
        scope = scopes.pop() ?? scope
        return ')'
      case '.':
        return scope.dotAll ? '[\\s\\S]' : '[^\\n]'
      case '^':
        return scope.multiline ? '(?<![^\\n])' : START
      case '$':
        return scope.multiline ? '(?![^\\n])' : `(?=\\n?${END})`
      case '{':
      case '*':
      case '+':
      case '?':
        return quantifier(character)
      case '|':
        return character
      default:
        return literal(character.codePointAt(0)!)
    }
  }

  let source = ''
  while (at < characters.length) source += one()
  return { source, flags: ignoreCase ? 'iu' : 'u' }
}

function nameOf(name: string): string {
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) throw new InvalidPattern(`"${name}" is no group name`)
  return name
}

function withFlags(scope: Scope, letters: string, value: boolean): Scope {
  const changed: Record<string, boolean> = {}
  for (const [letter, name] of Object.entries(FLAG_NAMES)) if (letters.includes(letter)) changed[name] = value
  return { ...scope, ...changed }
}

/** A character that means itself, wherever it stands. */
function literal(code: number): string {
  if (code > 0x10ffff) throw new InvalidPattern('there is no such character')
  const character = String.fromCodePoint(code)
  return /[\p{L}\p{N}]/u.test(character) ? character : `\\u{${code.toString(16)}}`
}

const unsupported = (what: string): Error => new Error(`this server knows no ${what} in regular expressions`)
