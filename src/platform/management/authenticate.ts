import type { RequestHandler, Response } from 'express'
import type { Db } from '../base/database.ts'
import { PlatformError } from '../base/errors.ts'
import { type User, userOfRequest } from '../base/keys.ts'

/** Lets only requests in that have a key of somebody. Throws 401. */
export function authenticate(db: Db): RequestHandler {
  return async (request, response, next) => {
    const user = await userOfRequest(db, request)
    if (!user) throw new PlatformError(401, 'The header Service-Api-Key is missing or its key is unknown.')
    response.locals.user = user
    next()
  }
}

/** Who asks. */
export const userOf = ({ locals }: Response): User => locals.user as User
