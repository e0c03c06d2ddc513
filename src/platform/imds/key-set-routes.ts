import { Router } from 'express'
import { sendJson } from '../base/json.ts'
import type { SigningKeys } from './signing-keys.ts'

/** `GET /.well-known/workload-jwks.json`: what verifies identity tokens, for everybody (platform reference, section 21). */
export function createKeySetRoutes(keys: Pick<SigningKeys, 'published'>): Router {
  const router = Router()
  router.get('/.well-known/workload-jwks.json', async (_request, response) => {
    const published = await keys.published()
    response.setHeader('cache-control', 'public, max-age=600')
    sendJson(response, { keys: published.map(({ publicJwk }) => publicJwk) })
  })
  return router
}
