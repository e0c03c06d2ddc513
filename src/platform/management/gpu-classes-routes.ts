import { Router } from 'express'
import type { GpuClass } from '../../contracts/platform/gpu-class.ts'
import { sendJson } from '../base/json.ts'
import { pagingOf } from '../base/paging.ts'

/** `GET …/gpu-classes`: the catalogue, by name (section 13). */
export function createGpuClassesRoutes(classes: readonly GpuClass[]): Router {
  const router = Router()
  router.get('/gpu-classes', (request, response) => {
    const { offset, limit } = pagingOf(request)
    sendJson(response, { items: classes.slice(offset, offset + limit) })
  })
  return router
}
