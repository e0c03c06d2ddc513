import type { Response } from 'express'
import { parseExact, stringifyExact } from '../../common/json.ts'

/**
 * Parses JSON as `parseExact` does, for what users store is theirs to the last digit. Throws a SyntaxError also for what the
 * database could not hold: the character U+0000 and half a surrogate pair.
 */
export function parseJson(text: string): unknown {
  const value = parseExact(text)
  inspect(value)
  return value
}

function inspect(value: unknown): void {
  if (typeof value === 'string') inspectText(value)
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) Object.keys(value).forEach(inspectText)
  Object.values(value).forEach(inspect)
}

function inspectText(text: string): void {
  if (text.includes('\0')) throw new SyntaxError('the character U+0000 is not allowed')
  if (/\p{Surrogate}/u.test(text)) throw new SyntaxError('half a surrogate pair is not allowed')
}

/** Ends an answer with plain data; see `stringifyExact`. */
export function sendJson(response: Response, body: unknown, type = 'application/json'): void {
  response.setHeader('content-type', type) // Express would add a character set
  response.end(stringifyExact(body))
}
