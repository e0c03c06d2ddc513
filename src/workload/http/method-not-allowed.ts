import type { RequestHandler } from 'express'
import { WorkloadError } from '../base/errors.ts'

/** Ends a route: a known path was asked with a method other than `allowed`. */
export function methodNotAllowed(...allowed: readonly string[]): RequestHandler {
  return (request, response) => {
    response.set('allow', allowed.join(', '))
    throw new WorkloadError('method-not-allowed', `${request.method} is not allowed here, only ${allowed.join(', ')}`)
  }
}
