import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import type { Jobs } from '../../../jobs/jobs.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'
import { readBody } from '../../read-body.ts'

/** What to give back. */
export const freeSchema = z.object({ unload_models: z.boolean().nullish(), free_memory: z.boolean().nullish() })

/** `POST /free` `{unload_models, free_memory}`: gives back what no prompt uses now; freeing memory unloads models too. */
export function freeRoute(jobs: Pick<Jobs, 'free'>, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/free')
    .post(...body, (request, response) => {
      const { unload_models, free_memory } = readBody(freeSchema, request)
      const results = free_memory ?? false
      jobs.free({ results, models: unload_models ?? results })
      response.end()
    })
    .all(methodNotAllowed('POST'))
  return router
}
