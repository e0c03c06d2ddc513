import type { ErrorRequestHandler, Response } from 'express'
import { stringifyExact } from '../../common/json.ts'
import type { Log } from '../../common/log.ts'
import { problemStatus } from '../../contracts/problem.ts'
import { WorkloadError } from '../base/errors.ts'
import { asReadable, problemOf } from '../base/problem.ts'
import { requestIdOf } from './request-id.ts'

/** The only place where an error becomes a response; routes never catch. */
export function problemHandler(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const request_id = requestIdOf(response)
    if (response.headersSent || response.destroyed) {
      // Half an answer is out, or nobody is there: all that is left is to end the connection.
      log.debug({ request: request_id, err: thrown }, 'an answer broke off')
      return void response.destroy()
    }
    const error = asWorkloadError(thrown)
    if (error.code === 'internal') log.error({ request: request_id, err: thrown }, 'internal error')
    if (error.facts.retryAfter !== undefined) response.set('retry-after', String(error.facts.retryAfter))
    const preferred = request.accepts(['application/json', 'application/problem+json']) || 'application/json'
    sendJson(response.status(problemStatus[error.code]), problemOf(error, request_id), preferred)
  }
}

/** Sends plain data without losing a digit of an integer. */
export function sendJson(response: Response, body: unknown, type = 'application/json'): void {
  response.set('content-type', `${type}; charset=utf-8`).send(stringifyExact(body))
}

function asWorkloadError(error: unknown): WorkloadError {
  const status = statusOf(error)
  if (status === 413) return new WorkloadError('body-too-large', 'the body is larger than this server accepts')
  if (status === 416) return new WorkloadError('range-not-satisfiable', 'the file has no such part')
  if (status === 415) return new WorkloadError('unsupported-media-type', (error as Error).message)
  if (status !== undefined && status < 500) return new WorkloadError('invalid-request', (error as Error).message)
  return asReadable(error)
}

/** Express and its body parser throw errors that carry the status they mean. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined
}
