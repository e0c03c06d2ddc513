import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { WorkloadError } from '../base/errors.ts'

/** Whether a request has `key` in the header `Service-Api-Key`; how long the comparison takes tells nothing of the key. */
export function keyCheck(key: string): (request: IncomingMessage) => boolean {
  // Hashes, because the comparison needs equal lengths.
  const hashed = (text: string) => createHash('sha256').update(text).digest()
  const expected = hashed(key)
  return ({ headers }) => {
    const given = headers['service-api-key']
    return typeof given === 'string' && timingSafeEqual(hashed(given), expected)
  }
}

/** Lets only requests in that have `key`. */
export function requireApiKey(key: string): RequestHandler {
  const hasKey = keyCheck(key)
  return (request, _response, next) => {
    if (!hasKey(request)) throw new WorkloadError('forbidden', 'the header Service-Api-Key is missing or wrong')
    next()
  }
}
