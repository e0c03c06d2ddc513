import { Router } from 'express'
import type { Jobs } from '../../jobs/jobs.ts'
import { API_VERSION } from '../api-version.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/** `GET /ready`: whether prompts should be sent here now, and if not, why. */
export function readyRoute(jobs: Pick<Jobs, 'reasons'>): Router {
  const router = Router()
  router
    .route('/ready')
    .get((_request, response) => {
      const { reasons } = jobs
      if (reasons.length === 0) response.json({ version: API_VERSION, status: 'ready' })
      else response.status(503).json({ version: API_VERSION, status: 'not ready', reasons })
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
