import type { RequestHandler, Response } from 'express'
import { PlatformError } from '../base/errors.ts'
import type { Members, User } from '../base/members.ts'

/** Lets only requests in that have a key of somebody. Throws 401. */
export function authenticate({ userOf }: Members): RequestHandler {
  return async ({ headers }, response, next) => {
    const key = headers['service-api-key']
    const user = typeof key === 'string' && key !== '' ? await userOf(key) : undefined
    if (!user) throw new PlatformError(401, 'The header Service-Api-Key is missing or its key is unknown.')
    response.locals.user = user
    next()
  }
}

/** Who asks. */
export const userOf = ({ locals }: Response): User => locals.user as User
