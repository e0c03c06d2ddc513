import { METHODS } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import type { EndedRequest } from '../base/metrics.ts'

/** Tells `onEnded` of every request when it is over; `now` is in milliseconds. */
export function countRequests(
  onEnded: (request: EndedRequest, seconds: number) => void,
  now: () => number,
): RequestHandler {
  return (request, response, next) => {
    const began = now()
    response.once('close', () => {
      const method = METHODS.includes(request.method) ? request.method : 'other'
      onEnded({ route: routeOf(request), method, status: statusOf(response) }, (now() - began) / 1000)
    })
    next()
  }
}

/** The pattern of the path, which is the same below `/api`. What no route knows is one: people ask for all sorts of paths. */
function routeOf({ route }: Request): string {
  const path: unknown = route?.path
  return typeof path === 'string' ? path : 'other'
}

/** Clients that go away before there is an answer have seen no status; 499 is what proxies call that. */
const statusOf = ({ headersSent, statusCode }: Response): string => String(headersSent ? statusCode : 499)
