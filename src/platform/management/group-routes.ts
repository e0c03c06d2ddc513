import { type Request, type Response, Router } from 'express'
import { notFound, PlatformError } from '../base/errors.ts'
import { sendJson } from '../base/json.ts'
import { pagingOf } from '../base/paging.ts'
import { readJson } from '../base/read-body.ts'
import { redefineGroup, removeGroup, startGroup, stopGroup } from '../instances/group-commands.ts'
import { findGroup, type GroupRecord } from '../instances/group-record.ts'
import { createGroup, type GroupCreation } from './create-group.ts'
import { groupOf, visibleGroups } from './find-group.ts'
import { createdDefinition, type GpuClassIds, patchedDefinition } from './group-definition.ts'
import { groupViews } from './group-view.ts'
import { keepQuota, lockGroups, replicasTaken } from './keep-quota.ts'
import { organizationOf, projectOf } from './organization.ts'

export interface GroupServices extends GroupCreation {
  readonly gpuClasses: GpuClassIds
  /** Where clients find this API, without `/api/public`. */
  readonly baseUrl: string
}

/** Container groups (platform reference, section 12), relative to a project. */
export function createGroupRoutes(services: GroupServices): Router {
  const { db, now, instances, gpuClasses, quotas, baseUrl } = services

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
    const id = await createGroup(services, { organizationId: organization.id, projectId: project.id }, definition)
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
