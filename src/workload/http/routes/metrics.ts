import { Router } from 'express'
import { METRICS_TYPE, type Metrics } from '../../base/metrics.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/** `GET /metrics`: what happened in this process, for Prometheus. */
export function metricsRoute(metrics: Pick<Metrics, 'text'>): Router {
  const router = Router()
  router
    .route('/metrics')
    .get(async (_request, response) => {
      const text = await metrics.text()
      response.set('content-type', METRICS_TYPE).set('cache-control', 'no-store').send(text)
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
