import type { Context } from './context.ts'
import { type GroupRecord, isUp } from './group-record.ts'
import { setReplicas } from './set-replicas.ts'

const MINUTE_MS = 60_000

interface Asked {
  /** Epoch milliseconds. */
  readonly time: number
  /** What the last answers changed. */
  readonly changes: readonly { readonly time: number; readonly delta: number }[]
}

/** Asks how many replicas the groups with a queue_autoscaler should have, each in its own period (section 19.1). */
export function createAutoscaling(context: Pick<Context, 'db' | 'now' | 'settings' | 'desiredReplicas'>) {
  /** By group; only while it is up, so that a start is an evaluation. */
  const asked = new Map<string, Asked>()
  return async (group: GroupRecord): Promise<void> => {
    const { definition, id, queue_id: queueId } = group
    const { queue_autoscaler: autoscaler, replicas } = definition
    if (!isUp(group) || !autoscaler || !queueId) {
      asked.delete(id)
      return
    }
    const time = context.now()
    const before = asked.get(id)
    const periodMs = autoscaler.polling_period ? autoscaler.polling_period * 1000 : context.settings.autoscalerMs
    if (before && time - before.time < periodMs) return
    const changes = (before?.changes ?? []).filter((change) => time - change.time < MINUTE_MS)
    const sum = (sign: number): number => changes.reduce((total, { delta }) => total + Math.max(0, sign * delta), 0)
    asked.set(id, { time, changes })
    const answer = await context.desiredReplicas({ id, queueId, replicas, autoscaler, added: sum(1), removed: sum(-1) })
    if (answer !== replicas) asked.set(id, { time, changes: [...changes, { time, delta: answer - replicas }] })
    await setReplicas(context, group, answer)
  }
}
