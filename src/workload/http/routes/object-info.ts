import { Router } from 'express'
import type { Declarations } from '../../jobs/ports.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { sendJson } from '../problem-handler.ts'

/** `GET /object_info[/{class}]`: ComfyUI's description of the nodes; of an unknown class, nothing. */
export function objectInfoRoute({ describe, describeOne }: Omit<Declarations, 'validate'>): Router {
  const router = Router()
  router
    .route('/object_info')
    .get(async (_request, response) => sendJson(response, await describe()))
    .all(methodNotAllowed('GET', 'HEAD'))
  router
    .route('/object_info/:classType')
    .get(async ({ params: { classType } }, response) => {
      const description = await describeOne(classType)
      sendJson(response, description === undefined ? {} : { [classType]: description })
    })
    .all(methodNotAllowed('GET', 'HEAD'))
  return router
}
