import { type RequestHandler, Router } from 'express'
import { type DownloadCompleted, type DownloadStarted, downloadRequestSchema } from '../../../contracts/download.ts'
import type { Downloads } from '../../jobs/downloads.ts'
import { requestFault } from '../../jobs/faults.ts'
import { requireJson } from '../json-body.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/** `POST /download`: brings a model file into a folder of models, at once or, with `wait`, before it answers. */
export function downloadRoute(downloads: Downloads, body: readonly RequestHandler[]): Router {
  const router = Router()
  router
    .route('/download')
    .post(...body, requireJson, async (request, response) => {
      const asked = downloadRequestSchema.safeParse(request.body)
      if (!asked.success) throw requestFault(asked.error.issues)
      const { url, model_type, wait } = asked.data
      const download = await downloads.start(asked.data)
      const { id, filename } = download
      response.set('location', `/downloads/${id}`)
      if (!wait) {
        const started: DownloadStarted = { url, model_type, filename, status: 'started', id }
        return void response.status(202).json(started)
      }
      await download.ended
      if (download.error) throw download.error
      const { size = 0, duration = 0 } = download.record
      const completed: DownloadCompleted = { url, model_type, filename, status: 'completed', size, duration }
      response.json(completed)
    })
    .all(methodNotAllowed('POST'))
  return router
}
