import type { RequestHandler } from 'express'
import { PlatformError } from '../base/errors.ts'

/** Answers with 500 what has not been answered after `ms` (section 26). */
export function limitTime(ms: number): RequestHandler {
  return (_request, response, next) => {
    const timer = setTimeout(() => {
      if (!response.headersSent) next(new PlatformError(500, 'The operation took too long.'))
    }, ms)
    response.once('close', () => clearTimeout(timer))
    next()
  }
}
