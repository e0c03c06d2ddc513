import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { WorkloadError } from '../base/errors.ts'

/** A page that a browser on this very machine has open may ask a local server only if it came from there. */
export function isFromForeignPage({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  if (origin === undefined || !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)) return false
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase()
}

/** Refuses what pages of other sites send without their users' knowledge: forms need no permission. */
export const refuseForeignPages: RequestHandler = (request, _response, next) => {
  checkPage(request)
  next()
}

/** Throws `forbidden` for a request of a page of another site. */
export function checkPage(request: IncomingMessage): void {
  if (isFromForeignPage(request)) throw new WorkloadError('forbidden', 'pages of other sites may not use this server')
}
