import { type Request, type Response, Router } from 'express'
import { sql } from 'kysely'
import type { GpuClass } from '../../contracts/platform/gpu-class.ts'
import type { SystemLog } from '../../contracts/platform/system-log.ts'
import type { Db } from '../base/database.ts'
import { sendJson } from '../base/json.ts'
import type { EventResources } from '../base/tables.ts'
import type { GroupRecord } from '../instances/group-record.ts'
import { groupOf } from './find-group.ts'

const MAX_EVENTS = 50

/** `GET …/containers/{group}/system-logs`: what last happened to a group and its instances (section 12), relative to a project. */
export function createSystemLogsRoutes(db: Db, gpuClasses: readonly Pick<GpuClass, 'id' | 'name'>[]): Router {
  const names = new Map(gpuClasses.map(({ id, name }) => [id, name]))
  const viewOf = (group: GroupRecord, { text_log, time, labels, resources }: EventRow): SystemLog => {
    const { cpu, memory, storage_amount, gpu_classes } = resources ?? group.definition.container.resources
    const { container_group_version: version = `${group.version}`, instance_id, machine_id } = labels
    return {
      event_name: text_log ?? '',
      event_time: time.toISOString(),
      resource_cpu: cpu,
      resource_gpu_class: gpu_classes.map((id) => names.get(id) ?? id).join(', '),
      resource_memory: memory,
      resource_storage_amount: storage_amount,
      version,
      ...(instance_id !== undefined && machine_id !== undefined && { instance_id, machine_id }),
    }
  }

  const router = Router()
  router.get('/containers/:group/system-logs', async (request: Request, response: Response) => {
    const group = await groupOf(db, request, response)
    const events = await newestEvents(db, group)
    sendJson(response, { items: events.map((event) => viewOf(group, event)) })
  })
  return router
}

interface EventRow {
  readonly text_log: string | null
  readonly time: Date
  readonly labels: Readonly<Record<string, string>>
  readonly resources: EventResources | null
}

/** Newest first. An earlier group may have had the same name. */
const newestEvents = (db: Db, { organization_id, project_name, name, create_time }: GroupRecord): Promise<EventRow[]> =>
  db
    .selectFrom('log_entries')
    .select(['text_log', 'time', 'labels', 'resources'])
    .where('organization_id', '=', organization_id)
    .where(sql<boolean>`resource_type <> 'container'`) // written out, for the index holds only these
    .where(sql<boolean>`labels ->> 'project_name' = ${project_name}`)
    .where(sql<boolean>`labels ->> 'container_group_name' = ${name}`)
    .where('time', '>=', create_time)
    .orderBy('time', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_EVENTS)
    .execute()
