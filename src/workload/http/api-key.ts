import { createHash, timingSafeEqual } from 'node:crypto'
import type { RequestHandler } from 'express'
import { WorkloadError } from '../base/errors.ts'

/** Asks for `key` in the header `Service-Api-Key`; how long the comparison takes tells nothing of the key. */
export function requireApiKey(key: string): RequestHandler {
  // Hashes, because the comparison needs equal lengths.
  const hashed = (text: string) => createHash('sha256').update(text).digest()
  const expected = hashed(key)
  return (request, _response, next) => {
    const given = request.get('service-api-key')
    if (given === undefined || !timingSafeEqual(hashed(given), expected))
      throw new WorkloadError('forbidden', 'the header Service-Api-Key is missing or wrong')
    next()
  }
}
