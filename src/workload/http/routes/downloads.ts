import { Router } from 'express'
import type { DownloadRecord } from '../../../contracts/download.ts'
import { problemOf } from '../../base/problem.ts'
import type { Downloads } from '../../jobs/downloads.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { requestIdOf } from '../request-id.ts'

/** `GET /downloads/{id}`: how far a download is, or how it ended. */
export function downloadsRoute(downloads: Downloads): Router {
  const router = Router()
  router
    .route('/downloads/:id')
    .get(({ params: { id } }, response) => {
      const { record, error } = downloads.view(id)
      const told: DownloadRecord = { ...record, ...(error && { error: problemOf(error, requestIdOf(response)) }) }
      if (record.status === 'started') response.set('retry-after', '1')
      response.json(told)
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
