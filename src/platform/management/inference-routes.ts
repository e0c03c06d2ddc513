import { type Response, Router } from 'express'
import { stringifyExact } from '../../common/json.ts'
import { webhookOf } from '../../contracts/platform/job-fields.ts'
import { sendJson } from '../base/json.ts'
import { pagingOf } from '../base/paging.ts'
import { nameIn, uuidIn } from '../base/path.ts'
import { readBody } from '../base/read-body.ts'
import type { Queues } from '../queues/create-queues.ts'
import { createdInferenceJobText, inferenceJobText, pageText } from '../queues/job-text.ts'
import { organizationOf } from './organization.ts'
import { announce, sendText } from './send-text.ts'

export interface InferenceRoutesOptions {
  readonly queues: Queues
  /** Under which new jobs are named. */
  readonly baseUrl: string
}

/** `…/inference-endpoints` (platform reference, section 10). */
export function createInferenceRoutes({ queues: { endpoints, jobs }, baseUrl }: InferenceRoutesOptions): Router {
  const router = Router()

  /** The endpoint of the path, and where its jobs of the caller's organization wait. */
  const endpointOf = (params: { readonly endpoint: string }, response: Response) => {
    const organization = organizationOf(response)
    const endpoint = endpoints.find(organization.name, nameIn(params.endpoint, 'inference endpoint'))
    return { endpoint, organization, place: { organizationId: organization.id, endpoint: endpoint.name } }
  }

  router.get('/inference-endpoints', (request, response) => {
    const { page, size, offset } = pagingOf(request)
    const { name: organization_name } = organizationOf(response)
    const all = endpoints.list(organization_name).map((endpoint) => ({ ...endpoint, organization_name }))
    sendJson(response, { items: all.slice(offset, offset + size), page, page_size: size, total_size: all.length })
  })
  router.get('/inference-endpoints/:endpoint', ({ params }, response) => {
    const { endpoint, organization } = endpointOf(params, response)
    sendJson(response, { ...endpoint, organization_name: organization.name })
  })

  router.get('/inference-endpoints/:endpoint/jobs', async (request, response) => {
    const { place, organization } = endpointOf(request.params, response)
    const { page, size, ...slice } = pagingOf(request)
    const [rows, total_size] = await Promise.all([jobs.list(place, slice), jobs.count(place)])
    const items = rows.map((row) => inferenceJobText(row, organization.name))
    sendText(response, pageText(items, { page, page_size: size, total_size }))
  })
  router.post('/inference-endpoints/:endpoint/jobs', async (request, response) => {
    const { endpoint, place, organization } = endpointOf(request.params, response)
    const body = await readBody(endpoints.bodySchemaOf(endpoint.name), request)
    const input = stringifyExact(body.input)
    const row = await jobs.create({
      place,
      organizationId: organization.id,
      input,
      metadata: body.metadata ? stringifyExact(body.metadata) : undefined,
      webhook: webhookOf(body),
    })
    const echoed = endpoint.name === 'transcribe' ? stringifyExact({ url: body.input.url }) : input
    sendText(announce(response, baseUrl, row.id), createdInferenceJobText(row, organization.name, echoed))
  })
  router.get('/inference-endpoints/:endpoint/jobs/:job', async ({ params }, response) => {
    const { place, organization } = endpointOf(params, response)
    sendText(response, inferenceJobText(await jobs.read(place, uuidIn(params.job, 'job')), organization.name))
  })
  router.delete('/inference-endpoints/:endpoint/jobs/:job', async ({ params }, response) => {
    const { place } = endpointOf(params, response)
    await jobs.cancel(place, uuidIn(params.job, 'job'))
    response.status(202).end()
  })
  return router
}
