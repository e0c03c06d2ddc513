import type { RequestHandler } from 'express'

const methods = 'GET, HEAD, PUT, POST, DELETE, OPTIONS'
const requestHeaders = 'Authorization, Content-Type, If-None-Match, Range, Service-Api-Key'
const responseHeaders = 'Content-Length, Content-Range, ETag, X-Request-Id'
/** Seconds that a browser remembers the answer to its question. */
const REMEMBERED = '86400'

/** Lets pages of every site ask, which need a credential as everybody does; answers their question on any path. */
export const allowPages: RequestHandler = (request, response, next) => {
  response.set({ 'access-control-allow-origin': '*', 'access-control-expose-headers': responseHeaders })
  if (request.method !== 'OPTIONS') return next()
  response.set({
    allow: methods,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': requestHeaders,
    'access-control-max-age': REMEMBERED,
  })
  response.status(204).end()
}
