import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Db } from '../base/database.ts'
import { PlatformError } from '../base/errors.ts'
import { invalid } from '../base/read-body.ts'
import type { Instances } from '../instances/create-instances.ts'
import { insertGroup } from '../instances/group-commands.ts'
import { keepQuota, lockGroups, replicasTaken } from './keep-quota.ts'
import type { QuotaSettings } from './quotas-routes.ts'

export interface GroupCreation {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly instances: Pick<Instances, 'changed'>
  readonly quotas: Pick<QuotaSettings, 'replicaQuota'>
  /** Ends the host names of groups. */
  readonly gatewayDomain: string
}

/** Whose a new group is. */
export interface GroupOwner {
  readonly organizationId: string
  readonly projectId: string
}

/** Creates a container group and resolves with its id. Throws 400 for an unknown queue or a name in use, 403 beyond the quota. */
export async function createGroup(
  { db, now, instances, quotas, gatewayDomain }: GroupCreation,
  { organizationId, projectId }: GroupOwner,
  definition: GroupDefinition,
): Promise<string> {
  const queueId = await queueNamed(db, projectId, definition.queue_connection)
  const id = await db.transaction().execute(async (db) => {
    await lockGroups(db, organizationId)
    const id = await insertGroup({ db, now }, { organizationId, projectId, definition, queueId, gatewayDomain })
    if (id === undefined)
      throw new PlatformError(400, `name: "${definition.name}" is already in use`, { slug: 'name_conflict' })
    await keepQuota(db, organizationId, quotas.replicaQuota, replicasTaken(definition))
    return id
  })
  instances.changed(id)
  return id
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
