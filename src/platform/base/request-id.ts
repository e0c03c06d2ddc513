import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'

/** Gives the answer its `X-Request-Id`, a UUID. */
export const assignRequestId: RequestHandler = (_request, response, next) => {
  response.setHeader('x-request-id', randomUUID())
  next()
}

/** The id of the request that `response` answers. */
export const requestIdOf = (response: Response): string => response.get('x-request-id') ?? ''
