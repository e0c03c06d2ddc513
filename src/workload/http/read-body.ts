import type { Request } from 'express'
import type { z } from 'zod'
import { WorkloadError } from '../base/errors.ts'

/** The body of a request, which must be as `schema` says. Throws `invalid-request` with the first fault. */
export function readBody<T>(schema: z.ZodType<T>, request: Request): T {
  const parsed = schema.safeParse(request.body)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  const location = path.map(String).join('.') || 'body'
  throw new WorkloadError('invalid-request', `${location}: ${message}`, { location })
}
