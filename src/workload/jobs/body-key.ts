import { createHash } from 'node:crypto'
import { stringifyExact } from '../base/json.ts'

/** Equal for bodies that ask for the same, in whatever order their keys stand and with whatever credentials. */
export function bodyKeyOf(raw: Readonly<Record<string, unknown>>): string {
  const { credentials: _, ...asked } = raw
  return createHash('sha256')
    .update(stringifyExact(sorted(asked)))
    .digest('base64url')
}

/** Plain data with the keys of every object in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}
