import type { Db } from '../base/database.ts'
import type { Members } from '../base/members.ts'
import type { GatewayGroup } from '../gateway/group.ts'
import { selectGroups } from '../instances/group-record.ts'
import { groupViews } from '../management/group-view.ts'

/** Groups that are connected to a queue, as they are answered (section 8.13). */
export async function connectedGroups(db: Db, queueId: string): Promise<readonly unknown[]> {
  const groups = await selectGroups(db)
    .where('container_groups.queue_id', '=', queueId)
    .where('container_groups.deleted', '=', false)
    .orderBy('container_groups.create_time', 'desc')
    .limit(100)
    .execute()
  return groupViews(db, groups)
}

/** The group that a host names, as the gateway knows it. */
export async function groupAt(db: Db, host: string): Promise<GatewayGroup | undefined> {
  const group = await selectGroups(db)
    .where('container_groups.dns', '=', host)
    .where('container_groups.deleted', '=', false)
    .executeTakeFirst()
  const networking = group?.definition.networking
  return group && networking && { id: group.id, organization_id: group.organization_id, networking }
}

/** Whether a key's user is a member of an organization. */
export async function keyOpens(members: Members, key: string, organizationId: string): Promise<boolean> {
  const user = await members.userOf(key)
  return user !== undefined && members.isMember(user.id, organizationId)
}
