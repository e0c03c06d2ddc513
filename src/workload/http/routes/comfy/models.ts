import { Router } from 'express'
import { WorkloadError } from '../../../base/errors.ts'
import type { ModelFolders } from '../../../jobs/ports.ts'
import { methodNotAllowed } from '../../method-not-allowed.ts'

/** `GET /models/{folder}`, `GET /embeddings` and `GET /view_metadata/{folder}?filename=`: model files by name. */
export function modelFilesRoute({ names, list, metadata }: ModelFolders): Router {
  const router = Router()
  const known = (folder: string): string => {
    if (names.includes(folder)) return folder
    throw new WorkloadError('not-found', `there is no model folder ${folder}`)
  }
  router
    .route('/models/:folder')
    .get(async ({ params: { folder } }, response) => void response.json(await list(known(folder))))
    .all(methodNotAllowed('GET', 'HEAD'))
  router
    .route('/embeddings')
    .get(async (_request, response) => {
      response.json((await list('embeddings')).map((name) => name.replace(/\.[^./]+$/, '')))
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  router
    .route('/view_metadata/:folder')
    .get(async ({ params: { folder }, query: { filename } }, response) => {
      const found = typeof filename === 'string' ? await metadata(known(folder), filename) : undefined
      if (!found) throw new WorkloadError('not-found', 'there is no such file, or it says nothing of itself')
      response.json(found)
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}

/** `GET /api/models`: the names of the folders. Without `/api` the route is ours. */
export function modelFolderNamesRoute({ names }: ModelFolders): Router {
  const router = Router()
  router
    .route('/models')
    .get((_request, response) => void response.json(names))
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
