import type { ErrorRequestHandler, RequestHandler } from 'express'
import { problemStatus } from '../../../../contracts/problem.ts'
import { WorkloadError } from '../../../base/errors.ts'
import type { Jobs } from '../../../jobs/jobs.ts'
import { readComfyBody } from '../../comfy/comfy-body.ts'
import { type ComfyDesk, statusOf } from '../../comfy/comfy-desk.ts'
import { comfyErrorOf } from '../../comfy/comfy-error.ts'
import { checkPage } from '../../foreign-page.ts'
import { sendJson } from '../../problem-handler.ts'
import { requestIdOf } from '../../request-id.ts'

/** `GET /prompt`: how many prompts run or wait. */
export const tellRemaining =
  (desk: ComfyDesk): RequestHandler =>
  (_request, response) =>
    sendJson(response, statusOf(desk.remaining))

/** Whether a body comes from a client of ComfyUI's: no other sends its own id. */
export const isFromComfyClient = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'client_id' in body

/** `POST /prompt` as ComfyUI answers it: at once, and refusals in its own form. Bodies that are not `taken` go on. */
export function submitPrompt(
  jobs: Jobs,
  taken: (body: unknown) => boolean,
): readonly [RequestHandler, ErrorRequestHandler] {
  return [
    async (request, response, next) => {
      if (!taken(request.body)) return next()
      checkPage(request)
      const { body, submission } = readComfyBody(request.body)
      const { id, number, nodeErrors } = await jobs.submit(body, submission, requestIdOf(response))
      sendJson(response, { prompt_id: id, number, node_errors: nodeErrors })
    },
    (error: unknown, request, response, next) => {
      if (!(error instanceof WorkloadError) || typeof request.body !== 'object' || !taken(request.body))
        return next(error)
      if (error.facts.retryAfter !== undefined) response.set('retry-after', String(error.facts.retryAfter))
      sendJson(response.status(problemStatus[error.code]), comfyErrorOf(error, request.body?.prompt))
    },
  ]
}
