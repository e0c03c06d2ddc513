import type { ErrorRequestHandler, Request } from 'express'
import type { Log } from '../../common/log.ts'
import type { Problem } from '../../contracts/platform/problem.ts'
import type { PlatformError } from './errors.ts'
import { sendJson } from './json.ts'
import { asPlatformError, problemOf } from './problem.ts'
import { requestIdOf } from './request-id.ts'

export interface ProblemHandlerOptions {
  /** Under which `type` and `instance` are named. */
  readonly baseUrl: string
  readonly log: Log
  /** The body of an error, where it is not the common one. */
  readonly shape?: (error: PlatformError, requestId: string, request: Request) => Problem
}

/** The only place of a surface where an error becomes a response; routes never catch. */
export function createProblemHandler({ baseUrl, log, shape }: ProblemHandlerOptions): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const requestId = requestIdOf(response)
    if (response.headersSent || response.destroyed) {
      log.debug({ request: requestId, err: thrown }, 'an answer broke off')
      if (!response.writableEnded) response.destroy() // half of it is out: all that is left is to end the connection
      return
    }
    const error = asPlatformError(thrown)
    if (error.status === 500) log.error({ request: requestId, err: error.cause ?? error }, 'unexpected error')
    for (const [name, value] of Object.entries(error.facts.headers ?? {})) response.setHeader(name, value)
    response.statusCode = error.status
    const problem = shape?.(error, requestId, request) ?? problemOf(error, baseUrl, requestId)
    sendJson(response, problem, 'application/problem+json')
  }
}
