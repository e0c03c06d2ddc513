import { isPythonInt, PythonFloat, pythonFloat } from '../base/python-number.ts'
import { HEAD_LENGTH, pngChunk } from './png-chunks.ts'

/**
 * `png` with a text chunk (tEXt, PNG specification §11.3.3.2) an entry of `texts`, right after the header: the value as
 * JSON, where ComfyUI's clients look for the prompt and the workflow. Keys that no PNG can hold are left out.
 */
export function withTexts(png: Buffer, texts: Readonly<Record<string, unknown>>): Buffer {
  const chunks = Object.entries(texts)
    .filter(([key, value]) => isKeyword(key) && value !== undefined)
    .map(([key, value]) => textChunk(key, asciiJson(value)))
  return Buffer.concat([png.subarray(0, HEAD_LENGTH), ...chunks, png.subarray(HEAD_LENGTH)])
}

/** 1 to 79 printable Latin-1 characters, no blank at either end. */
function isKeyword(key: string): boolean {
  return /^[ -~\u00a1-\u00ff]{1,79}$/.test(key) && key.trim() === key
}

const textChunk = (keyword: string, text: string): Buffer =>
  pngChunk('tEXt', Buffer.from(`${keyword}\0${text}`, 'latin1'))

/**
 * JSON as Python's `json.dumps` writes it: ASCII only, `, ` and `: ` between, numbers in Python's digits; 64-bit integers
 * stay exact.
 */
export function asciiJson(value: unknown): string {
  if (value instanceof PythonFloat) return floatJson(value.value)
  if (Array.isArray(value)) return `[${value.map((entry) => asciiJson(entry ?? null)).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
    return `{${entries.map(([key, entry]) => `${asciiJson(key)}: ${asciiJson(entry)}`).join(', ')}}`
  }
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return isPythonInt(value) ? String(value) : floatJson(value)
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const floatJson = (value: number): string => (Number.isFinite(value) ? pythonFloat(value) : String(value)) // Python writes Infinity and NaN too
