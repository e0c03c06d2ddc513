import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { ComfyDesk } from '../comfy/comfy-desk.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { readBody } from '../read-body.ts'

/** What our own clients send. */
export const idSchema = z.object({ id: z.string() })
/** What ComfyUI's clients send. */
export const comfySchema = z.object({ prompt_id: z.string().nullish() })

/**
 * `POST /interrupt` `{id}`: stops a prompt that waits or runs; 404 for one that is unknown or has ended. As ComfyUI's
 * clients send it, with `{prompt_id}` or nothing: stops that prompt if it runs, or all that run.
 */
export function interruptRoute(jobs: Jobs, desk: ComfyDesk, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/interrupt')
    .post(...body, async (request, response) => {
      if (!Object.hasOwn(Object(request.body), 'id')) {
        const { prompt_id } = readBody(comfySchema, request)
        for (const { job } of desk.running) if (!prompt_id || job.id === prompt_id) await jobs.cancel(job.id)
        return void response.end()
      }
      const parsed = idSchema.safeParse(request.body)
      if (!parsed.success) throw new WorkloadError('invalid-request', 'id: must be a string', { location: 'id' })
      const { id } = parsed.data
      const stopped = await jobs.cancel(id).catch(falseIfUnknown)
      response.status(stopped ? 200 : 404).json({ id, interrupted: stopped ? 'success' : 'failed' })
    })
    .all(methodNotAllowed('POST'))
  return router
}

function falseIfUnknown(error: unknown): false {
  if (error instanceof WorkloadError && error.code === 'job-not-found') return false
  throw error
}
