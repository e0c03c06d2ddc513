import { STATUS_CODES } from 'node:http'
import { type Problem, problemStatus } from '../../contracts/problem.ts'
import { type ErrorFacts, WorkloadError } from './errors.ts'

/** What was thrown as callers may read it: anything unforeseen is `internal`, with the original as its cause. */
export const asReadable = (thrown: unknown): WorkloadError =>
  thrown instanceof WorkloadError ? thrown : new WorkloadError('internal', 'internal error', { cause: thrown })

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
