import { pipeline } from 'node:stream/promises'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { jobIdSchema } from '../../../contracts/prompt.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { isForLater } from '../../jobs/prompt-body.ts'
import { answerPieces } from '../answer-pieces.ts'
import type { ComfyDesk } from '../comfy/comfy-desk.ts'
import { requireJson } from '../json-body.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { sendJson } from '../problem-handler.ts'
import { requestIdOf } from '../request-id.ts'
import { isFromComfyClient, submitPrompt, tellRemaining } from './comfy/prompt.ts'

/** What `POST /prompt` needs beside the jobs. */
export interface PromptRouteServices {
  readonly desk: ComfyDesk
  readonly body: readonly RequestHandler[]
  /** The header in which a queue's worker sends the id of its job; empty: none. */
  readonly jobIdHeader: string
}

/**
 * `POST /prompt`: runs a graph while the client waits; one that goes away and gave no id cancels it. What is to be told
 * to a webhook, or later, is stored and answered with 202. Clients of ComfyUI's, which send a `client_id`, are answered as
 * there; `GET /prompt` is theirs too.
 */
export function promptRoute(jobs: Jobs, { desk, body, jobIdHeader }: PromptRouteServices): Router {
  const router = Router()
  router
    .route('/prompt')
    .get(tellRemaining(desk))
    .post(
      ...body,
      ...submitPrompt(jobs, isFromComfyClient),
      requireJson,
      async (request: Request, response: Response) => {
        const requestId = requestIdOf(response)
        const named = withId(request, jobIdHeader)
        if (isForLater(named) || wantsAsync(request)) {
          const { id, echo } = await jobs.accept(named, requestId)
          return sendJson(response.status(202).location(`/jobs/${id}`), echo)
        }
        const gone = new AbortController()
        response.once('close', () => gone.abort(new WorkloadError('cancelled', 'the client went away')))
        await jobs.run(named, { signal: gone.signal, requestId }, async (answer, replayed) => {
          response.type('json')
          if (replayed) response.set('idempotent-replayed', 'true')
          await pipeline(answerPieces(answer), response)
        })
      },
    )
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  return router
}

/** `Prefer: respond-async` (RFC 7240). */
const wantsAsync = (request: Request): boolean => /(^|[,;\s])respond-async([,;\s]|$)/i.test(request.get('prefer') ?? '')

/** The body with the id that `header` gives it, if it has none: a job that is handed out again joins its own run. */
function withId({ body, headers }: Request, header: string): unknown {
  const id = jobIdSchema.safeParse(headers[header.toLowerCase()])
  const isNameless = typeof body === 'object' && body !== null && !('id' in body)
  return isNameless && id.success ? { ...body, id: id.data } : body
}
