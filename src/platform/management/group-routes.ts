import { type Request, type Response, Router } from 'express'
import { sql } from 'kysely'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Db } from '../base/database.ts'
import { notFound, PlatformError } from '../base/errors.ts'
import { sendJson } from '../base/json.ts'
import { pagingOf } from '../base/paging.ts'
import { invalid, readJson } from '../base/read-body.ts'
import { replicasUsed } from '../base/replica-quota.ts'
import type { Instances } from '../instances/create-instances.ts'
import { insertGroup, redefineGroup, removeGroup, startGroup, stopGroup } from '../instances/group-commands.ts'
import { findGroup, type GroupRecord } from '../instances/group-record.ts'
import { groupOf, visibleGroups } from './find-group.ts'
import { createdDefinition, type GpuClassIds, patchedDefinition } from './group-definition.ts'
import { groupViews } from './group-view.ts'
import { organizationOf, projectOf } from './organization.ts'
import type { QuotaSettings } from './quotas-routes.ts'

export interface GroupServices {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly instances: Pick<Instances, 'changed'>
  readonly gpuClasses: GpuClassIds
  readonly quotas: Pick<QuotaSettings, 'replicaQuota'>
  /** Ends the host names of groups. */
  readonly gatewayDomain: string
  /** Where clients find this API, without `/api/public`. */
  readonly baseUrl: string
}

/** Container groups (platform reference, section 12), relative to a project. */
export function createGroupRoutes(services: GroupServices): Router {
  const { db, now, instances, gpuClasses, quotas, gatewayDomain, baseUrl } = services

  const send = async (response: Response, group: GroupRecord | undefined): Promise<void> => {
    if (!group) throw notFound('container group') // deleted meanwhile
    const [view] = await groupViews(db, [group])
    sendJson(response, view)
  }
  const act = async (request: Request, response: Response, how: typeof startGroup) => {
    const group = await groupOf(db, request, response)
    if (group.status === 'pending') throw new PlatformError(400, 'The container group is pending.')
    await how({ db, now }, group)
    instances.changed(group.id)
    response.status(202).end()
  }

  const router = Router()
  router.get('/containers', async (request, response) => {
    const { limit, offset } = pagingOf(request)
    const groups = await visibleGroups(db, projectOf(response).id)
      .orderBy('container_groups.create_time', 'desc')
      .orderBy('container_groups.id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute()
    sendJson(response, { items: await groupViews(db, groups) })
  })
  router.post('/containers', async (request, response) => {
    const definition = createdDefinition(await readJson(request), gpuClasses)
    const organization = organizationOf(response)
    const project = projectOf(response)
    const queueId = await queueNamed(db, project.id, definition.queue_connection)
    const id = await db.transaction().execute(async (db) => {
      await lockGroups(db, organization.id)
      const id = await insertGroup(
        { db, now },
        { organizationId: organization.id, projectId: project.id, definition, queueId, gatewayDomain },
      )
      if (id === undefined)
        throw new PlatformError(400, `name: "${definition.name}" is already in use`, { slug: 'name_conflict' })
      await keepQuota(db, organization.id, quotas.replicaQuota, replicasTaken(definition))
      return id
    })
    instances.changed(id)
    const { href } = new URL(
      `${baseUrl}/api/public/organizations/${organization.name}/projects/${project.name}/containers/${definition.name}`,
    )
    await send(response.status(201).location(href), await findGroup(db, id))
  })
  router.get('/containers/:group', async (request, response) => {
    await send(response, await groupOf(db, request, response))
  })
  router.patch('/containers/:group', async (request, response) => {
    await groupOf(db, request, response)
    const patch = await readJson(request, { type: 'application/merge-patch+json' })
    const id = await db.transaction().execute(async (db) => {
      await lockGroups(db, organizationOf(response).id)
      const group = await groupOf(db, request, response)
      const definition = patchedDefinition(group.definition, patch, gpuClasses)
      if (group.status === 'pending' || group.preparing)
        throw new PlatformError(400, 'The image of the container group is still being prepared.')
      await redefineGroup({ db, now }, group, definition)
      const added = replicasTaken(definition) - replicasTaken(group.definition)
      await keepQuota(db, group.organization_id, quotas.replicaQuota, added)
      return group.id
    })
    instances.changed(id)
    await send(response, await findGroup(db, id))
  })
  router.delete('/containers/:group', async (request, response) => {
    const group = await groupOf(db, request, response)
    await removeGroup({ db, now }, group)
    instances.changed(group.id)
    response.status(202).end()
  })
  router.post('/containers/:group/start', (request, response) => act(request, response, startGroup))
  router.post('/containers/:group/stop', (request, response) => act(request, response, stopGroup))
  return router
}

async function queueNamed(db: Db, projectId: string, connection: GroupDefinition['queue_connection']) {
  if (!connection) return undefined
  const queue = await db
    .selectFrom('queues')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', connection.queue_name)
    .executeTakeFirst()
  if (!queue) throw invalid({ 'queue_connection.queue_name': ['must be a queue of the project'] })
  return queue.id
}

/** What a group takes of the quota: as many instances as it may ever have, also while it is stopped. */
const replicasTaken = ({ queue_autoscaler, replicas }: GroupDefinition): number =>
  queue_autoscaler?.max_replicas ?? replicas

/** Throws 403 when the groups, one of which has `added` replicas more than before, are beyond the quota. */
async function keepQuota(db: Db, organizationId: string, quota: number, added: number): Promise<void> {
  if (added <= 0 || (await replicasUsed(db, organizationId)) <= quota) return
  throw new PlatformError(403, `The organization has a quota of ${quota} container replicas.`, {
    slug: 'quota_exceeded',
  })
}

/** Lets one transaction at a time change the groups of an organization. */
async function lockGroups(db: Db, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(7302, hashtext(${organizationId}))`.execute(db)
}
