import type { Context } from './context.ts'
import { findGroup, type GroupRecord, instancesOf, logGroupEvent, wantedOf } from './group-record.ts'
import { prepareGroup, settleGroup } from './group-status.ts'
import { leaveBehind, startAgain, stopInstance } from './instance-moves.ts'
import { addInstances, placeInstances } from './place-instances.ts'
import { inScaleInOrder } from './scale-in.ts'
import { startInstance } from './start-instance.ts'

/**
 * Looks at a group's records and containers, and does what brings them closer to each other and to what its owner wants. It
 * remembers nothing between two looks, so it goes on wherever an earlier process of the platform was ended.
 */
export async function reconcile(context: Context, groupId: string): Promise<void> {
  const group = await findGroup(context.db, groupId)
  if (!group) return
  if (group.preparing && !group.deleted) prepareGroup(context, group)
  await forgetEnded(context, group)
  await followVersion(context, group)
  await scale(context, group)
  if (!group.preparing) await placeInstances(context, group)
  await matchRuns(context, group)
  await forgetEnded(context, group) // those that waited for a node are gone as soon as they stop
  await settleGroup(context, group, await instancesOf(context.db, groupId))
}

/** Removes instances whose container has ended, or was lost with an earlier process. */
async function forgetEnded(context: Context, group: GroupRecord): Promise<void> {
  const { db, now, runs, failures } = context
  for (const instance of await instancesOf(db, group.id)) {
    const isHere = runs.get(instance.machine_id)?.groupId === group.id
    const isStopped = instance.state === 'stopping' && !isHere
    const isLost = instance.state === 'running' && !isHere
    if (!isStopped && !isLost) continue
    await leaveBehind(context, instance.machine_id)
    await db.deleteFrom('instances').where('id', '=', instance.id).execute()
    failures.delete(instance.machine_id)
    if (!isLost) continue
    await logGroupEvent(db, group, now(), 'Instance Interrupted (Node Offline)', { instance, severity: 'warning' })
  }
}

/** Instances of an earlier version start again with the current one, once its image is ready. */
async function followVersion(context: Context, group: GroupRecord): Promise<void> {
  const { nodes, db, now } = context
  if (group.preparing || wantedOf(group) === 0) return
  const { version } = group
  for (const instance of await instancesOf(db, group.id)) {
    if (instance.state === 'allocating' || instance.state === 'stopping') continue
    if (!nodes.fits(group.definition.container.resources)) {
      await stopInstance(context, instance.id)
      await logGroupEvent(db, group, now(), 'Instance Reallocated by Platform', { instance })
    } else if (instance.version < version)
      await startAgain(context, group, instance, { fresh: true, event: 'Instance Recreated', version })
  }
}

/** Adds what is missing, and stops what is too many. */
async function scale(context: Context, group: GroupRecord): Promise<void> {
  const instances = (await instancesOf(context.db, group.id)).filter(({ state }) => state !== 'stopping')
  const wanted = wantedOf(group)
  for (const { id } of inScaleInOrder(instances).slice(0, Math.max(0, instances.length - wanted)))
    await stopInstance(context, id)
  await addInstances(context, group, Math.max(0, wanted - instances.length))
}

/** Stops containers that belong to no instance any more, and starts those that are to be. */
async function matchRuns(context: Context, group: GroupRecord): Promise<void> {
  const instances = await instancesOf(context.db, group.id)
  const kept = new Set(instances.filter(({ state }) => state !== 'stopping').map(({ id }) => id))
  for (const run of context.runs.values())
    if (run.groupId === group.id && !kept.has(run.instanceId) && !run.stopping) void run.stop()
  for (const instance of instances)
    if (instance.state === 'creating' && !context.runs.has(instance.machine_id)) startInstance(context, group, instance)
}
