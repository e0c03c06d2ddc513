import type { ContainerGroup } from '../../contracts/platform/container-group.ts'
import type { Db } from '../base/database.ts'
import type { GroupRecord } from '../instances/group-record.ts'

type Counts = ContainerGroup['current_state']['instance_status_counts']

const none: Counts = { allocating_count: 0, creating_count: 0, running_count: 0, stopping_count: 0 }

/** Groups as others read them (platform reference, section 8.5), in the same order. */
export async function groupViews(db: Db, groups: readonly GroupRecord[]): Promise<ContainerGroup[]> {
  const counts = await countInstances(
    db,
    groups.map(({ id }) => id),
  )
  return groups.map((group) => viewOf(group, counts.get(group.id) ?? none))
}

async function countInstances(db: Db, groupIds: readonly string[]): Promise<ReadonlyMap<string, Counts>> {
  const counts = new Map<string, Counts>()
  if (groupIds.length === 0) return counts
  const rows = await db
    .selectFrom('instances')
    .select(({ fn }) => ['group_id', 'state', fn.countAll<string>().as('count')])
    .where('group_id', 'in', groupIds)
    .groupBy(['group_id', 'state'])
    .execute()
  for (const { group_id, state, count } of rows) {
    const member = `${state === 'downloading' ? 'creating' : state}_count` as const
    const before = counts.get(group_id) ?? none
    counts.set(group_id, { ...before, [member]: before[member] + Number(count) })
  }
  return counts
}

function viewOf(group: GroupRecord, instance_status_counts: Counts): ContainerGroup {
  const { container, networking, ...definition } = group.definition
  const { registry_authentication: _secret, priority, ...shown } = container
  return {
    ...definition,
    id: group.id,
    organization_name: group.organization_name,
    project_name: group.project_name,
    create_time: group.create_time.toISOString(),
    update_time: group.update_time.toISOString(),
    version: group.version,
    priority: container.resources.gpu_classes.length > 0 ? priority : 'batch',
    pending_change: group.pending_change,
    current_state: {
      status: group.status,
      description: group.description,
      start_time: group.start_time.toISOString(),
      finish_time: group.finish_time.toISOString(),
      instance_status_counts,
    },
    container: {
      ...shown,
      ...(group.image_hash !== null && { hash: group.image_hash }),
      ...(group.image_size !== null && { size: group.image_size }),
    },
    ...(networking && group.dns !== null && { networking: { ...networking, dns: group.dns } }),
  }
}
