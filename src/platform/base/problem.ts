import { type Problem, problemStatus } from '../../contracts/platform/problem.ts'
import { notFound, PlatformError } from './errors.ts'

/** Longest `detail`. */
const MAX_DETAIL = 2000

/** What was thrown as callers may read it: anything unforeseen is a 500 that tells nothing, with the original as its cause. */
export function asPlatformError(thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown
  if (thrown instanceof URIError) return notFound('resource') // a path with a broken escape names nothing
  return new PlatformError(500, 'Something unexpected happened.', { cause: thrown })
}

/** The error object of the wire, with a `type` and an `instance` under `baseUrl`. */
export function problemOf({ status, message, facts }: PlatformError, baseUrl: string, requestId: string): Problem {
  const { title, slug } = problemStatus[status]
  return {
    type: `${baseUrl}/e/${facts.slug ?? slug}`,
    title,
    status,
    detail: message.slice(0, MAX_DETAIL),
    instance: `${baseUrl}/i/${requestId}`,
  }
}

/** The form that operations which create jobs answer with: no type, and a short id made of the request's. */
export function blankProblemOf(error: PlatformError, requestId: string): Problem {
  const id = BigInt(`0x${requestId.replaceAll('-', '')}`)
    .toString(36)
    .toUpperCase()
  return { ...problemOf(error, '', requestId), type: 'about:blank', instance: id.slice(-10).padStart(10, '0') }
}
