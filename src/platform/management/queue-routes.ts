import { type Response, Router } from 'express'
import { stringifyExact } from '../../common/json.ts'
import { queueBodySchema, queuePatchSchema } from '../../contracts/platform/queue.ts'
import { queueJobBodySchema } from '../../contracts/platform/queue-job.ts'
import { notFound } from '../base/errors.ts'
import { sendJson } from '../base/json.ts'
import { pagingOf } from '../base/paging.ts'
import { isUuid, nameIn, uuidIn } from '../base/path.ts'
import { readBody } from '../base/read-body.ts'
import type { Queues } from '../queues/create-queues.ts'
import { pageText, queueJobText } from '../queues/job-text.ts'
import type { QueueRow } from '../queues/queue-book.ts'
import { organizationOf, projectOf } from './organization.ts'
import { announce, sendText } from './send-text.ts'

export interface QueueRoutesOptions {
  readonly queues: Queues
  /** Under which new resources are named. */
  readonly baseUrl: string
  /** The groups that are connected to a queue, as they are answered, at most 100. */
  readonly connectedGroups: (queueId: string) => Promise<readonly unknown[]>
}

/** `…/projects/{project}/queues` (platform reference, section 11). */
export function createQueueRoutes({ queues: { queues, jobs }, baseUrl, connectedGroups }: QueueRoutesOptions): Router {
  const router = Router()
  const queueNameOf = ({ queue }: { readonly queue: string }, response: Response) => ({
    projectId: projectOf(response).id,
    name: nameIn(queue, 'queue'),
  })
  const queueOf = (params: { readonly queue: string }, response: Response) => queues.find(queueNameOf(params, response))
  const shown = async ({ id, name, display_name, description, create_time, update_time }: QueueRow) => ({
    id,
    name,
    display_name,
    description: description ?? undefined,
    container_groups: await connectedGroups(id),
    current_queue_length: await jobs.lengthOf(id),
    create_time,
    update_time,
  })

  router.get('/queues', async (request, response) => {
    const rows = await queues.list(projectOf(response).id, pagingOf(request))
    sendJson(response, { items: await Promise.all(rows.map(shown)) })
  })
  router.post('/queues', async (request, response) => {
    const body = await readBody(queueBodySchema, request)
    const row = await queues.create(projectOf(response).id, body)
    sendJson(announce(response, baseUrl, row.name), await shown(row))
  })
  router.get('/queues/:queue', async ({ params }, response) => {
    sendJson(response, await shown(await queueOf(params, response)))
  })
  router.patch('/queues/:queue', async (request, response) => {
    const row = await queueOf(request.params, response)
    const patch = await readBody(queuePatchSchema, request, { type: 'application/merge-patch+json' })
    sendJson(response, await shown(await queues.change(row, patch)))
  })
  router.delete('/queues/:queue', async ({ params }, response) => {
    await queues.remove(await queueOf(params, response))
    response.status(202).end()
  })

  router.get('/queues/:queue/jobs', async (request, response) => {
    const { id } = await queueOf(request.params, response)
    const rows = await jobs.list({ queueId: id }, pagingOf(request))
    sendText(response, pageText(rows.map(queueJobText)))
  })
  router.post('/queues/:queue/jobs', async (request, response) => {
    const place = queueNameOf(request.params, response)
    const { input, metadata, webhook } = await readBody(queueJobBodySchema, request).catch(async (fault) => {
      await queueOf(request.params, response) // that it is not there would be told first
      throw fault
    })
    const row = await jobs.create({
      place,
      organizationId: organizationOf(response).id,
      input: stringifyExact(input),
      metadata: metadata ? stringifyExact(metadata) : undefined,
      webhook: webhook ?? undefined,
    })
    sendText(announce(response, baseUrl, row.id), queueJobText(row))
  })
  router.get('/queues/:queue/jobs/:job', async ({ params }, response) => {
    const row = isUuid(params.job) && (await jobs.findIn(queueNameOf(params, response), params.job))
    if (row) return sendText(response, queueJobText(row))
    await queueOf(params, response)
    throw notFound('job')
  })
  router.delete('/queues/:queue/jobs/:job', async ({ params }, response) => {
    const { id } = await queueOf(params, response)
    await jobs.cancel({ queueId: id }, uuidIn(params.job, 'job'))
    response.status(202).end()
  })
  return router
}
