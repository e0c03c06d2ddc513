import { Router } from 'express'
import type { Jobs } from '../../jobs/jobs.ts'
import { API_VERSION } from '../api-version.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/** `GET /health`: whether this instance is worth keeping. */
export function healthRoute(jobs: Pick<Jobs, 'healthy'>): Router {
  const router = Router()
  router
    .route('/health')
    .get((_request, response) => {
      const { healthy } = jobs
      response.status(healthy ? 200 : 500).json({ version: API_VERSION, status: healthy ? 'healthy' : 'not healthy' })
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
