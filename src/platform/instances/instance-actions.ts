import type { Context } from './context.ts'
import { findGroup, type GroupRecord, type InstanceRecord } from './group-record.ts'
import { leaveNode, startAgain } from './instance-moves.ts'

/** What an instance can be asked to do, by its owner or by itself; each resolves when it is noted, and happens soon after. */
export interface InstanceActions {
  /** The same container again on its node; without effect unless it runs. */
  restart(instanceId: string): Promise<void>
  /** A new container on its node, with an empty folder; without effect unless it runs. */
  recreate(instanceId: string): Promise<void>
  /** Another node; without effect on one that is stopping or gone. */
  reallocate(instanceId: string, reason: string): Promise<void>
  /** An int32. */
  setDeletionCost(instanceId: string, cost: number): Promise<void>
}

export function createInstanceActions(
  context: Pick<Context, 'db' | 'now' | 'settings' | 'log'> & Pick<Context, 'changed'>,
): InstanceActions {
  const { db, changed } = context
  const act = async (id: string, how: (group: GroupRecord, instance: InstanceRecord) => Promise<void>) => {
    const instance = await db.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirst()
    const group = instance && (await findGroup(db, instance.group_id))
    if (!instance || !group) return
    await how(group, instance)
    changed(group.id)
  }
  const again = (id: string, fresh: boolean, event: 'Instance Restarted' | 'Instance Recreated') =>
    act(id, async (group, instance) => {
      if (instance.state === 'running') await startAgain(context, group, instance, { fresh, event })
    })
  return {
    restart: (id) => again(id, false, 'Instance Restarted'),
    recreate: (id) => again(id, true, 'Instance Recreated'),
    reallocate: (id, reason) =>
      act(id, (group, instance) =>
        leaveNode(context, group, instance, { event: 'Instance Reallocated by User', reason }),
      ),
    async setDeletionCost(id, cost) {
      await db.updateTable('instances').set({ deletion_cost: cost }).where('id', '=', id).execute()
    },
  }
}
