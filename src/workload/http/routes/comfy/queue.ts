import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import type { Jobs } from '../../../jobs/jobs.ts'
import type { ComfyDesk } from '../../comfy/comfy-desk.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'
import { sendJson } from '../../problem-handler.ts'
import { readBody } from '../../read-body.ts'

/** What to take out: all, or those with these ids. */
export const removalSchema = z.object({ clear: z.unknown().optional(), delete: z.array(z.string()).nullish() })

/** `GET /queue`, and `POST /queue` `{clear}` or `{delete: [ids]}`, which takes out what waits. */
export function queueRoute(jobs: Jobs, desk: ComfyDesk, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/queue')
    .get((_request, response) =>
      sendJson(response, {
        queue_running: desk.running.map(({ item }) => item),
        queue_pending: desk.pending.map(({ item }) => item),
      }),
    )
    .post(...body, async (request, response) => {
      const { clear, delete: ids } = readBody(removalSchema, request)
      for (const { job } of desk.pending) if (clear || ids?.includes(job.id)) await jobs.cancel(job.id)
      response.end()
    })
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  return router
}

/** `GET /history[/{id}]`, and `POST /history` `{clear}` or `{delete: [ids]}`. */
export function historyRoute(desk: ComfyDesk, body: readonly RequestHandler[]): Router {
  const router = Router()
  const send = (response: Parameters<RequestHandler>[1], stories: ComfyDesk['past']) =>
    sendJson(response, Object.fromEntries(stories.map(({ job, entry }) => [job.id, entry])))
  router
    .route('/history')
    .get(({ query }, response) => {
      const { past } = desk
      const most = wholeNumber(query.max_items) ?? past.length
      const from = wholeNumber(query.offset) ?? Math.max(0, past.length - most)
      send(response, past.slice(from, from + most))
    })
    .post(...body, (request, response) => {
      const { clear, delete: ids } = readBody(removalSchema, request)
      if (clear) desk.forget()
      for (const id of ids ?? []) desk.forget(id)
      response.end()
    })
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  router
    .route('/history/:id')
    .get(({ params: { id } }, response) =>
      send(
        response,
        desk.past.filter(({ job }) => job.id === id),
      ),
    )
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}

const wholeNumber = (text: unknown): number | undefined =>
  typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : undefined
