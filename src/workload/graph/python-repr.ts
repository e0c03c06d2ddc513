import { isPythonInt, pythonFloat } from '../base/python-number.ts'

/** Arrays and objects that nest deeper are written as `...`. */
const MAX_DEPTH = 512

/** `value` as Python's `repr()` writes what JSON made of it; ComfyUI's fault texts quote values in this form. */
export function pythonRepr(value: unknown): string {
  return write(value, 0)
}

/** `value` as Python's `str()` writes it: like `pythonRepr`, but a text stands without quotes. */
export function pythonStr(value: unknown): string {
  return typeof value === 'string' ? value : write(value, 0)
}

/** What Python calls the type of a JSON value. */
export function pythonType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return isPythonInt(value) ? 'int' : 'float'
    default:
      if (Array.isArray(value)) return 'list'
      return value === null || value === undefined ? 'NoneType' : 'dict'
  }
}

function write(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return isPythonInt(value) ? String(value) : pythonFloat(value)
  if (typeof value !== 'object') return String(value)
  if (depth === MAX_DEPTH) return '...'
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(', ')}]`
  const entries = Object.entries(value).map(([key, item]) => `${quote(key)}: ${write(item, depth + 1)}`)
  return `{${entries.join(', ')}}`
}

const shortEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** In single quotes unless only double ones spare an escape; what Python does not count as printable is escaped. */
function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(/[\\'"]|(?! )[\p{C}\p{Z}]/gu, (character) => {
    if (character === "'" || character === '"') return character === mark ? `\\${character}` : character
    const point = character.codePointAt(0)!
    const hex = point.toString(16)
    return (
      shortEscapes[character] ??
      (point < 0x100
        ? `\\x${hex.padStart(2, '0')}`
        : point < 0x1_0000
          ? `\\u${hex.padStart(4, '0')}`
          : `\\U${hex.padStart(8, '0')}`)
    )
  })
  return `${mark}${escaped}${mark}`
}
