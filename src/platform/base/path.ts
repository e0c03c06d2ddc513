import { nameSchema } from '../../contracts/platform/names.ts'
import { notFound } from './errors.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** A name from a path; one that breaks its format names nothing. Throws 404. `what` as in `notFound`. */
export function nameIn(text: unknown, what: string): string {
  const { success, data } = nameSchema.safeParse(text)
  if (!success) throw notFound(what)
  return data
}

export const isUuid = (text: string): boolean => uuid.test(text)

/** A UUID from a path, in lower case. Throws 404 for what is none. */
export function uuidIn(text: unknown, what: string): string {
  if (typeof text !== 'string' || !isUuid(text)) throw notFound(what)
  return text.toLowerCase()
}
