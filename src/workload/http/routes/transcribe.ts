import { type RequestHandler, Router } from 'express'
import { transcriptionRequestSchema } from '../../../contracts/transcription.ts'
import { WorkloadError } from '../../base/errors.ts'
import { requestFault } from '../../jobs/faults.ts'
import type { Transcriptions } from '../../jobs/transcriptions.ts'
import { requireJson } from '../json-body.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/**
 * `POST /transcribe`: writes down what is said in a file, as a platform's endpoint sends it: the body is the input of a job,
 * the answer its output. A client that goes away stops it.
 */
export function transcribeRoute(transcriptions: Transcriptions, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/transcribe')
    .post(...body, requireJson, async (request, response) => {
      const asked = transcriptionRequestSchema.safeParse(request.body)
      if (!asked.success) throw requestFault(asked.error.issues)
      const gone = new AbortController()
      response.once('close', () => gone.abort(new WorkloadError('cancelled', 'the client went away')))
      response.json(await transcriptions.run(asked.data, gone.signal))
    })
    .all(methodNotAllowed('POST'))
  return router
}
