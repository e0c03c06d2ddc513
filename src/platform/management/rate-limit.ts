import type { Request, RequestHandler } from 'express'
import { PlatformError } from '../base/errors.ts'
import type { RateWindows } from '../base/rate-windows.ts'
import { userOf } from './authenticate.ts'

/** The one operation whose refusal carries another status, as the specification has it. */
const refusedWith409 = /\/inference-endpoints\/transcription-lite\/jobs\/?$/i

/** Counts the requests of each key. `limit` is per minute; 0: none. Throws 429, or 409 where `transcription-lite` jobs are made. */
export function limitRequests(windows: RateWindows, limit: number): RequestHandler {
  return async (request, response, next) => {
    const wait = limit > 0 ? await windows.count(`requests:${userOf(response).id}`, limit) : undefined
    if (wait !== undefined) {
      const text = `There may be ${limit} requests in a minute.`
      throw new PlatformError(isRefusedWith409(request) ? 409 : 429, text, { headers: { 'retry-after': String(wait) } })
    }
    next()
  }
}

const isRefusedWith409 = ({ method, originalUrl }: Request): boolean =>
  method === 'POST' && refusedWith409.test(originalUrl.split('?')[0]!)
