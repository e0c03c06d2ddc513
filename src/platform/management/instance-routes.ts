import { type Request, type Response, Router } from 'express'
import {
  type ContainerInstance,
  instancePatchSchema,
  MOST_DELETION_COST,
} from '../../contracts/platform/container-instance.ts'
import type { Db } from '../base/database.ts'
import { notFound, PlatformError } from '../base/errors.ts'
import { sendJson } from '../base/json.ts'
import type { RateWindows } from '../base/rate-windows.ts'
import { readBody } from '../base/read-body.ts'
import type { Instances } from '../instances/create-instances.ts'
import { type InstanceRecord, instancesOf } from '../instances/group-record.ts'
import { groupOf, instanceOf } from './find-group.ts'
import { organizationOf } from './organization.ts'
import type { QuotaSettings } from './quotas-routes.ts'

/** Of an answer. */
const MAX_INSTANCES = 1000

export interface InstanceServices {
  readonly db: Db
  readonly instances: Pick<Instances, 'actions'>
  readonly rateWindows: RateWindows
  /** Each kind of action is counted alone. */
  readonly quotas: Omit<QuotaSettings, 'replicaQuota'>
}

/** Instances of container groups (platform reference, section 12), relative to a project. */
export function createInstanceRoutes({ db, instances, rateWindows, quotas }: InstanceServices): Router {
  const { actions } = instances
  const act = async (
    request: Request,
    response: Response,
    kind: 'restarts' | 'recreates' | 'reallocations',
    how: (id: string) => Promise<void>,
  ): Promise<void> => {
    const instance = await instanceOf(db, request, response)
    const limit = quotas[`${kind}PerMinute`]
    const wait = await rateWindows.count(`${kind}:${organizationOf(response).id}`, limit)
    if (wait !== undefined)
      throw new PlatformError(429, `The organization may have ${limit} ${kind} a minute.`, {
        headers: { 'retry-after': `${wait}` },
      })
    await how(instance.id)
    response.status(202).end()
  }

  const router = Router()
  router.get('/containers/:group/instances', async (request, response) => {
    const { id } = await groupOf(db, request, response)
    sendJson(response, { instances: (await instancesOf(db, id)).slice(0, MAX_INSTANCES).map(viewOf) })
  })
  const one = '/containers/:group/instances/:instance'
  router.get(one, async (request, response) => {
    sendJson(response, viewOf(await instanceOf(db, request, response)))
  })
  router.patch(one, async (request, response) => {
    const { id } = await instanceOf(db, request, response)
    const patch = await readBody(instancePatchSchema, request, { type: 'application/merge-patch+json' })
    if (patch.deletion_cost !== undefined) await actions.setDeletionCost(id, patch.deletion_cost ?? 0)
    const instance = await db.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirst()
    if (!instance) throw notFound('container instance') // it has ended meanwhile
    sendJson(response, viewOf(instance))
  })
  router.post(`${one}/restart`, (request, response) => act(request, response, 'restarts', actions.restart))
  router.post(`${one}/recreate`, (request, response) => act(request, response, 'recreates', actions.recreate))
  router.post(`${one}/reallocate`, (request, response) =>
    act(request, response, 'reallocations', (id) => actions.reallocate(id, 'Asked for through the management API')),
  )
  return router
}

const viewOf = (instance: InstanceRecord): ContainerInstance => ({
  id: instance.id,
  machine_id: instance.machine_id,
  state: instance.state,
  update_time: instance.update_time.toISOString(),
  version: instance.version,
  started: instance.started,
  ready: instance.ready,
  deletion_cost: Math.min(MOST_DELETION_COST, Math.max(0, instance.deletion_cost)),
})
