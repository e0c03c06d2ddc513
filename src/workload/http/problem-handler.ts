import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler, Response } from 'express'
import { type Problem, problemStatus } from '../../contracts/problem.ts'
import { type ErrorFacts, WorkloadError } from '../base/errors.ts'
import { stringifyExact } from '../base/json.ts'
import type { Log } from '../base/log.ts'
import { requestIdOf } from './request-id.ts'

/** The only place where an error becomes a response; routes never catch. */
export function problemHandler(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const request_id = requestIdOf(response)
    if (response.headersSent || response.destroyed) {
      // Half an answer is out, or nobody is there: Express ends the connection.
      log.debug({ request: request_id, err: thrown }, 'an answer broke off')
      return next(thrown)
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

/** The error object of the wire. */
export function problemOf({ code, message, facts }: WorkloadError, requestId: string): Problem {
  const status = problemStatus[code]
  const title = STATUS_CODES[status]!
  return {
    error: message,
    message,
    statusCode: status,
    type: 'about:blank',
    title,
    status,
    detail: message,
    instance: requestId,
    code,
    ...present(facts),
  }
}

/** The facts as the wire calls them; absent ones are left out. */
function present({ location, errors, nodeErrors, nodeId, nodeType }: ErrorFacts): Partial<Problem> {
  return {
    ...(location !== undefined && { location }),
    ...(errors && { errors }),
    ...(nodeErrors && { node_errors: nodeErrors }),
    ...(nodeId !== undefined && { node_id: nodeId }),
    ...(nodeType !== undefined && { node_type: nodeType }),
  }
}

function asWorkloadError(error: unknown): WorkloadError {
  if (error instanceof WorkloadError) return error
  const status = statusOf(error)
  if (status === 413) return new WorkloadError('body-too-large', 'the body is larger than this server accepts')
  if (status === 415) return new WorkloadError('unsupported-media-type', (error as Error).message)
  if (status !== undefined && status < 500) return new WorkloadError('invalid-request', (error as Error).message)
  return new WorkloadError('internal', 'internal error', { cause: error })
}

/** Express and its body parser throw errors that carry the status they mean. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined
}
