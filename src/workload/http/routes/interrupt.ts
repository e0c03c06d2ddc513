import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/create-jobs.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

const bodySchema = z.object({ id: z.string() })

/** `POST /interrupt` `{id}`: stops a prompt that waits or runs; 404 for one that is unknown or has ended. */
export function interruptRoute(jobs: Jobs, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/interrupt')
    .post(...body, (request, response) => {
      const parsed = bodySchema.safeParse(request.body)
      if (!parsed.success) throw new WorkloadError('invalid-request', 'id: must be a string', { location: 'id' })
      const { id } = parsed.data
      const stopped = jobs.list().some((job) => job.id === id) && jobs.cancel(id)
      response.status(stopped ? 200 : 404).json({ id, interrupted: stopped ? 'success' : 'failed' })
    })
    .all(methodNotAllowed('POST'))
  return router
}
