import { randomUUID } from 'node:crypto'
import type { Log } from '../../common/log.ts'
import { asPlatformError, problemOf } from '../base/problem.ts'
import { type Call, ClientSilent } from './exchange.ts'

/** After a refusal the client may go on sending so long, in milliseconds: a connection closed at once loses the answer. */
const LINGER_MS = 5000

export interface RefuseOptions {
  /** Under which `type` and `instance` of a problem are named. */
  readonly baseUrl: string
  readonly log: Log
}

/** The only place of the gateway where an error becomes an answer, or ends the one that has begun. */
export function refuse({ request, response }: Call, thrown: unknown, { baseUrl, log }: RefuseOptions): void {
  const id = randomUUID()
  if (response.headersSent || response.destroyed || thrown instanceof ClientSilent) {
    log.debug({ request: id, err: thrown }, 'a forwarded request broke off')
    response.destroy()
    return
  }
  const error = asPlatformError(thrown)
  if (error.status === 500) log.error({ request: id, err: error.cause ?? error }, 'unexpected error')
  else if (error.cause !== undefined) log.debug({ request: id, err: error }, 'a request was not forwarded')
  const problem = problemOf(error, baseUrl, id)
  response.setHeader('Content-Type', 'application/problem+json').setHeader('X-Request-Id', id)
  // A client that waits to be asked for its body will not send it: what follows would be taken for it.
  if (request.headers.expect !== undefined) response.setHeader('Connection', 'close')
  response.writeHead(error.status, problem.title)
  response.end(JSON.stringify(problem))
  if (request.complete) return
  const linger = setTimeout(() => request.socket.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(linger)).resume()
}
