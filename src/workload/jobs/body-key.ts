import { createHash } from 'node:crypto'
import { stringifyExact } from '../../common/json.ts'

/** Equal for bodies that ask for the same, in whatever order their keys stand and with whatever credentials. */
export function bodyKeyOf(raw: Readonly<Record<string, unknown>>): string {
  const { credentials: _, ...asked } = raw
  const hash = createHash('sha256')
  for (const piece of sortedJson(asked)) hash.update(piece)
  return hash.digest('base64url')
}

/** The JSON of plain data with the keys of every object in order; in pieces, for a body may hold 100 MB of pictures. */
function* sortedJson(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return yield stringifyExact(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (!Array.isArray(value)) members.sort(([a], [b]) => (a < b ? -1 : 1))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  yield open!
  for (const [i, [key, member]] of members.entries()) {
    if (i > 0) yield ','
    if (!Array.isArray(value)) yield `${JSON.stringify(key)}:`
    yield* sortedJson(member)
  }
  yield close!
}
