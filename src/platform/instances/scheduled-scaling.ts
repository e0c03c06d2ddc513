import { replicasUsed } from '../base/replica-quota.ts'
import type { Context } from './context.ts'
import { parseCron } from './cron.ts'
import { type GroupRecord, isUp } from './group-record.ts'
import { setReplicas } from './set-replicas.ts'

const MINUTE_MS = 60_000

/** Looks at the scaling actions of a group, to be called at least once a minute (platform reference, section 19.2). */
export function createScheduledScaling(context: Pick<Context, 'db' | 'now' | 'settings'>) {
  /** The minute that was looked at last, by group: what its owner writes afterwards holds. */
  const lookedAt = new Map<string, number>()
  return async (group: GroupRecord): Promise<void> => {
    const { definition, id } = group
    const minute = Math.floor(context.now() / MINUTE_MS)
    if (!isUp(group) || !definition['scheduled-scaling-enabled'] || definition.queue_autoscaler) {
      lookedAt.delete(id)
      return
    }
    if (lookedAt.get(id) === minute) return
    lookedAt.set(id, minute)
    const action = definition['scaling-actions'].findLast(({ schedule }) => parseCron(schedule)?.(minute * MINUTE_MS))
    if (!action) return
    const others = (await replicasUsed(context.db, group.organization_id)) - definition.replicas
    await setReplicas(context, group, Math.min(action.replicas, Math.max(0, context.settings.replicaQuota - others)))
  }
}
