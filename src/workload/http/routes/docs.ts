import { type RequestHandler, Router } from 'express'
import { WorkloadError } from '../../base/errors.ts'
import { once } from '../../base/once.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'

/**
 * `GET /docs`: this interface as a page, at `/docs/json` and `/docs/yaml` as an OpenAPI document. Whatever makes them is
 * imported when they are first asked for.
 */
export function docsRoute(): Router {
  const router = Router()
  const page = once(() => import('../docs/page.ts'))
  const document = once(async () => (await import('../docs/document.ts')).openApiDocument())
  const yaml = once(async () => (await import('yaml')).stringify(await document(), { aliasDuplicateObjects: false }))
  const files = once(async () => (await import('swagger-ui-express')).default.serve.at(-1)!) // the first makes another page
  const get = (path: string, handler: RequestHandler) =>
    router.route(path).get(handler).all(methodNotAllowed('GET', 'HEAD'))

  get('/docs', async ({ path }, response) => {
    const { docsPage, PAGE_POLICY } = await page()
    response.set('content-security-policy', PAGE_POLICY).type('html').send(docsPage(path))
  })
  get('/docs/json', async (_request, response) => void response.json(await document()))
  get('/docs/yaml', async (_request, response) => void response.type('application/yaml').send(await yaml()))
  get('/docs/static/start.js', async (_request, response) => {
    response.type('js').send((await page()).PAGE_SCRIPT)
  })
  router.use('/docs/static', async (request, response, next) => {
    if (!(await page()).isPageFile(request.path)) return next()
    ;(await files())(request, response, next)
  })
  get('/docs/static/*file', ({ path }) => {
    throw new WorkloadError('not-found', `there is no GET ${path}`)
  })
  return router
}
