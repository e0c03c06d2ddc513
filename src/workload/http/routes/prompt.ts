import { pipeline } from 'node:stream/promises'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/create-jobs.ts'
import { answerPieces } from '../answer-pieces.ts'
import type { ComfyDesk } from '../comfy/comfy-desk.ts'
import { requireJson } from '../json-body.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { requestIdOf } from '../request-id.ts'
import { isFromComfyClient, submitPrompt, tellRemaining } from './comfy/prompt.ts'

/**
 * `POST /prompt`: runs a graph while the client waits; one that goes away and gave no id cancels it. Clients of ComfyUI's,
 * which send a `client_id`, are answered as there; `GET /prompt` is theirs too.
 */
export function promptRoute(jobs: Jobs, desk: ComfyDesk, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/prompt')
    .get(tellRemaining(desk))
    .post(
      ...body,
      ...submitPrompt(jobs, isFromComfyClient),
      requireJson,
      async (request: Request, response: Response) => {
        const gone = new AbortController()
        response.once('close', () => gone.abort(new WorkloadError('cancelled', 'the client went away')))
        const caller = { signal: gone.signal, requestId: requestIdOf(response) }
        await jobs.run(request.body, caller, async (answer, replayed) => {
          response.type('json')
          if (replayed) response.set('idempotent-replayed', 'true')
          await pipeline(answerPieces(answer), response)
        })
      },
    )
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  return router
}
