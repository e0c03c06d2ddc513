import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'

/** Takes over the caller's `X-Request-Id`, or makes one, and returns it with the answer. */
export const assignRequestId: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id')
  response.set('x-request-id', given !== undefined && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID())
  next()
}

/** The id of the request that `response` answers. */
export const requestIdOf = (response: Response): string => response.get('x-request-id') ?? ''
