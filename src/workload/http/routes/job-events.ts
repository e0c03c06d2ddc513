import { once } from 'node:events'
import { type Response, Router } from 'express'
import { stringifyExact } from '../../../common/json.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/** A line that says nothing, so that gateways do not take the connection for dead. */
const ALIVE_MS = 15_000

/**
 * `GET /jobs/{id}/events`: server-sent events, first `status` with the record, then what happened and happens to the
 * job, from the event after `Last-Event-ID` on; it ends with `complete` or `failed`. `?previews=false` leaves out the
 * pictures that show how far a sampler is.
 */
export function jobEventsRoute(jobs: Jobs): Router {
  const router = Router()
  router
    .route('/jobs/:id/events')
    .get(async (request, response) => {
      const { id } = request.params
      const { record } = await jobs.view(id)
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      response.flushHeaders()
      const alive = setInterval(() => response.write(':\n\n'), ALIVE_MS)
      try {
        await write(response, `event: status\ndata: ${stringifyExact(record)}\n\n`)
        const last = Number(request.get('last-event-id') ?? 0)
        const after = Number.isSafeInteger(last) ? last : 0
        for await (const event of jobs.follow(id, after, gone.signal, request.query.previews !== 'false'))
          await write(response, `id: ${event.id}\nevent: ${event.name}\ndata: ${stringifyExact(event.data)}\n\n`)
      } finally {
        clearInterval(alive)
        response.end()
      }
    })
    .all(methodNotAllowed('GET'))
  return router
}

/** Waits while the client is slow, so that nothing piles up for it. */
async function write(response: Response, text: string): Promise<void> {
  if (response.write(text) || response.destroyed) return
  await Promise.race([once(response, 'drain'), once(response, 'close')])
}
