import type { Db } from '../base/database.ts'
import type { ImdsInstance } from '../imds/instance.ts'
import { findGroup } from './group-record.ts'
import type { InstanceActions } from './instance-actions.ts'
import type { Health } from './run.ts'

/**
 * An instance as its metadata service sees it. Its end is written down a moment later: `health` tells it at once, for who
 * sends jobs to an application that has died spends their attempts. Where it is kept by another platform, records must do.
 */
export function createImdsInstance(
  db: Db,
  actions: InstanceActions,
  id: string,
  health?: () => Health | undefined,
): ImdsInstance {
  return {
    async view() {
      const instance = await db.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirst()
      const group = instance && (await findGroup(db, instance.group_id))
      if (!instance || !group) return undefined
      const { started, ready } = (health ? health() : instance) ?? { started: false, ready: false }
      return {
        identity: {
          machine_id: instance.machine_id,
          workload_id: group.id,
          workload_name: group.name,
          organization_id: group.organization_id,
          organization_name: group.organization_name,
        },
        status: { started: instance.started && started, ready: instance.ready && ready },
        deletion_cost: instance.deletion_cost,
      }
    },
    setDeletionCost: (cost) => actions.setDeletionCost(id, cost),
    recreate: () => actions.recreate(id),
    restart: () => actions.restart(id),
    reallocate: (reason) => actions.reallocate(id, reason),
  }
}
