import type { Db } from '../base/database.ts'
import type { ImdsInstance } from '../imds/instance.ts'
import { findGroup } from './group-record.ts'
import type { InstanceActions } from './instance-actions.ts'

/** An instance as its metadata service sees it. */
export function createImdsInstance(db: Db, actions: InstanceActions, id: string): ImdsInstance {
  return {
    async view() {
      const instance = await db.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirst()
      const group = instance && (await findGroup(db, instance.group_id))
      if (!instance || !group) return undefined
      return {
        identity: {
          machine_id: instance.machine_id,
          workload_id: group.id,
          workload_name: group.name,
          organization_id: group.organization_id,
          organization_name: group.organization_name,
        },
        status: { started: instance.started, ready: instance.ready },
        deletion_cost: instance.deletion_cost,
      }
    },
    setDeletionCost: (cost) => actions.setDeletionCost(id, cost),
    recreate: () => actions.recreate(id),
    restart: () => actions.restart(id),
    reallocate: (reason) => actions.reallocate(id, reason),
  }
}
