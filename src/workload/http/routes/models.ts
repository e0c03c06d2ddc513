import { Router } from 'express'
import type { ModelFolders } from '../../jobs/ports.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/** `GET /models`: the model files that are there now, by kind. */
export function modelsRoute({ names, list }: ModelFolders): Router {
  const router = Router()
  router
    .route('/models')
    .get(async (_request, response) => {
      const folders = await Promise.all(names.map(async (name) => [name, await list(name)] as const))
      response.json(Object.fromEntries(folders))
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
