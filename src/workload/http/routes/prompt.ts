import { pipeline } from 'node:stream/promises'
import { type RequestHandler, Router } from 'express'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/create-jobs.ts'
import { answerPieces } from '../answer-pieces.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { requestIdOf } from '../request-id.ts'

/** `POST /prompt`: runs a graph while the client waits; one that goes away and gave no id cancels it. */
export function promptRoute(jobs: Jobs, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/prompt')
    .post(...body, async (request, response) => {
      const gone = new AbortController()
      response.once('close', () => gone.abort(new WorkloadError('cancelled', 'the client went away')))
      const caller = { signal: gone.signal, requestId: requestIdOf(response) }
      await jobs.run(request.body, caller, async (answer, replayed) => {
        response.type('json')
        if (replayed) response.set('idempotent-replayed', 'true')
        await pipeline(answerPieces(answer), response)
      })
    })
    .all(methodNotAllowed('POST'))
  return router
}
