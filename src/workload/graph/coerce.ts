import { pythonRepr, pythonStr, pythonType } from './python-repr.ts'
import type { Choice, Literal, WidgetType } from './widget.ts'

/** An exception of ComfyUI's validation, by its Python name and text; clients compare both. */
export class PythonError extends Error {
  override readonly name: string

  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/** Longer texts are no integers: Python refuses them because reading them takes quadratic time. */
const MAX_DIGITS = 4300
/** How much of a text Python quotes when it is no integer. */
const MAX_QUOTED = 200

/** Takes a literal out of `{"__value__": literal}`, the wrapping that keeps a list from being taken for a link. */
export function unwrap(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, '__value__')
    ? (value as { readonly __value__: unknown }).__value__
    : value
}

/** Turns a literal into one of type `type` as Python would; throws a `PythonError`. */
export function coerce(type: Exclude<WidgetType, 'COMBO'>, value: unknown): Literal {
  switch (type) {
    case 'INT':
      return toInt(value)
    case 'FLOAT':
      return toFloat(value)
    case 'STRING':
      return pythonStr(value)
    case 'BOOLEAN':
      return toBool(value)
  }
}

/** Python's `int()`: truncates; a bigint only beyond ±2^53. Throws a `PythonError`. */
export function toInt(value: unknown): number | bigint {
  switch (typeof value) {
    case 'boolean':
      return Number(value)
    case 'bigint':
      return narrow(value)
    case 'number':
      if (Number.isNaN(value)) throw new PythonError('ValueError', 'cannot convert float NaN to integer')
      if (!Number.isFinite(value)) throw new PythonError('OverflowError', 'cannot convert float infinity to integer')
      return narrow(BigInt(Math.trunc(value)))
    case 'string':
      return parseInteger(value)
    default:
      throw new PythonError(
        'TypeError',
        `int() argument must be a string, a bytes-like object or a real number, not '${pythonType(value)}'`,
      )
  }
}

/** Python's `float()`. Throws a `PythonError`. */
export function toFloat(value: unknown): number {
  switch (typeof value) {
    case 'boolean':
    case 'number':
      return Number(value)
    case 'bigint':
      if (!Number.isFinite(Number(value))) throw new PythonError('OverflowError', 'int too large to convert to float')
      return Number(value)
    case 'string':
      return parseFloatingPoint(value)
    default:
      throw new PythonError(
        'TypeError',
        `float() argument must be a string or a real number, not '${pythonType(value)}'`,
      )
  }
}

/** Python's `bool()`: any text that is not empty is true, "false" too. */
export function toBool(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Number.isNaN(value) || Boolean(value)
}

/** Python's `==` between a literal and a choice: `True == 1`, but never a text and a number. */
export function pythonEqual(value: unknown, choice: Choice): boolean {
  const comparable = (either: unknown) => (typeof either === 'boolean' ? Number(either) : either)
  return comparable(value) === comparable(choice)
}

function narrow(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function parseInteger(text: string): number | bigint {
  const trimmed = text.trim()
  if (!/^[+-]?\d+(?:_\d+)*$/.test(trimmed)) {
    const quoted = pythonRepr(text).slice(0, MAX_QUOTED)
    throw new PythonError('ValueError', `invalid literal for int() with base 10: ${quoted}`)
  }
  const digits = trimmed.replace(/[+_-]/g, '')
  if (digits.length > MAX_DIGITS) {
    throw new PythonError(
      'ValueError',
      `Exceeds the limit (${MAX_DIGITS} digits) for integer string conversion: value has ${digits.length} digits; ` +
        'use sys.set_int_max_str_digits() to increase the limit',
    )
  }
  return narrow(trimmed.startsWith('-') ? -BigInt(digits) : BigInt(digits))
}

const FLOAT = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i
const NOT_FINITE = /^([+-]?)(inf(?:inity)?|nan)$/i

function parseFloatingPoint(text: string): number {
  const trimmed = text.trim()
  if (FLOAT.test(trimmed)) return Number(trimmed.replaceAll('_', ''))
  const [, sign, word] = NOT_FINITE.exec(trimmed) ?? []
  if (word === undefined) throw new PythonError('ValueError', `could not convert string to float: ${pythonRepr(text)}`)
  if (word.toLowerCase() === 'nan') return Number.NaN
  return sign === '-' ? -Infinity : Infinity
}
