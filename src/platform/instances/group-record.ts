import type { Selectable } from 'kysely'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Db } from '../base/database.ts'
import { logEvent } from '../base/events.ts'
import type { Tables } from '../base/tables.ts'

/** A container group with the names it is known by. */
export interface GroupRecord extends Omit<Selectable<Tables['container_groups']>, 'definition'> {
  readonly definition: GroupDefinition
  readonly organization_name: string
  readonly project_name: string
}

export type InstanceRecord = Selectable<Tables['instances']>

/** Container groups joined with the names of their organizations and projects. */
export const selectGroups = (db: Db) =>
  db
    .selectFrom('container_groups')
    .innerJoin('organizations', 'organizations.id', 'container_groups.organization_id')
    .innerJoin('projects', 'projects.id', 'container_groups.project_id')
    .selectAll('container_groups')
    .select(['organizations.name as organization_name', 'projects.name as project_name'])
    // It is written by whoever has checked it, and nowhere else.
    .$narrowType<{ definition: GroupDefinition }>()

/** A group by its id, also a deleted one whose instances are still ending. */
export const findGroup = (db: Db, id: string): Promise<GroupRecord | undefined> =>
  selectGroups(db).where('container_groups.id', '=', id).executeTakeFirst()

/** Oldest first. */
export const instancesOf = (db: Db, groupId: string): Promise<InstanceRecord[]> =>
  db.selectFrom('instances').selectAll().where('group_id', '=', groupId).orderBy('create_time').orderBy('id').execute()

/** Whether its instances are to run. */
export const isUp = ({ status, deleted }: Pick<GroupRecord, 'status' | 'deleted'>): boolean =>
  !deleted && (status === 'deploying' || status === 'running')

/** How many instances there should be: without those that ended by themselves for good. */
export const wantedOf = (group: GroupRecord): number =>
  isUp(group) ? Math.max(0, group.definition.replicas - group.ended) : 0

/** Writes an event of a group, or of one of its instances. */
export function logGroupEvent(
  db: Db,
  group: GroupRecord,
  time: number,
  name: string,
  { instance, severity = 'info' }: EventFacts = {},
): Promise<void> {
  const { cpu, memory, storage_amount, gpu_classes } = group.definition.container.resources
  return logEvent(db, {
    organizationId: group.organization_id,
    type: instance ? 'instance_controller' : 'deployment_controller',
    name,
    severity,
    time,
    labels: labelsOf(group, instance),
    resources: { cpu, memory, storage_amount, gpu_classes },
  })
}

interface EventFacts {
  readonly instance?: Pick<InstanceRecord, 'id' | 'machine_id'>
  readonly severity?: 'info' | 'warning'
}

/** By what log entries of a group, or of one of its instances, are found. */
export const labelsOf = (
  group: GroupRecord,
  instance?: Pick<InstanceRecord, 'id' | 'machine_id'>,
): Readonly<Record<string, string>> => ({
  project_name: group.project_name,
  container_group_name: group.name,
  container_group_version: `${group.version}`,
  ...(instance && { instance_id: instance.id, machine_id: instance.machine_id }),
})
