import { randomUUID } from 'node:crypto'
import type { Context } from './context.ts'
import { type GroupRecord, type InstanceRecord, logGroupEvent } from './group-record.ts'

/** How a container starts again on its node. */
export interface Again {
  /** Whether the folder is emptied first. */
  readonly fresh: boolean
  readonly event: 'Instance Restarted' | 'Instance Recreated'
  /** The group's version from now on; as before if not given. */
  readonly version?: number
}

/** An instance starts again on its node, under a new id: the container with the old one is stopped by the next look. */
export async function startAgain(
  { db, now }: Pick<Context, 'db' | 'now'>,
  group: GroupRecord,
  instance: InstanceRecord,
  { fresh, event, version = instance.version }: Again,
): Promise<void> {
  const id = randomUUID()
  const time = now()
  const { numUpdatedRows } = await db
    .updateTable('instances')
    .set({ id, version, fresh, state: 'creating', started: false, ready: false, port: null })
    .set({ update_time: new Date(time) })
    .where('id', '=', instance.id)
    .where('state', '!=', 'stopping')
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) await logGroupEvent(db, group, time, event, { instance: { ...instance, id } })
}

/** An instance that is not stopping yet begins to. Resolves with false when it already was, or is gone. */
export async function stopInstance({ db, now }: Pick<Context, 'db' | 'now'>, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('instances')
    .set({ state: 'stopping', started: false, ready: false, update_time: new Date(now()) })
    .where('id', '=', id)
    .where('state', '!=', 'stopping')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Why an instance leaves its node. */
export interface Leave {
  readonly event: string
  readonly severity?: 'info' | 'warning'
  /** Kept with the node. */
  readonly reason: string
}

/** An instance leaves its node, which its organization then stays away from for a while; a replacement comes elsewhere. */
export async function leaveNode(
  context: Pick<Context, 'db' | 'now' | 'settings' | 'log'>,
  group: GroupRecord,
  instance: InstanceRecord,
  { event, reason, severity = 'info' }: Leave,
): Promise<void> {
  const { db, now, settings, log } = context
  if (!(await stopInstance(context, instance.id))) return
  const { organization_id } = group
  const until = new Date(now() + settings.exclusionMs)
  log.info({ machine: instance.machine_id, organization: group.organization_name, reason }, 'a node is given up')
  await db
    .insertInto('node_exclusions')
    .values({ organization_id, machine_id: instance.machine_id, until, reason })
    .execute()
  await logGroupEvent(db, group, now(), event, { instance, severity })
}

/** Gives up what the last container of a node left there. To be called before the node is free for another. */
export async function leaveBehind({ launcher, log }: Pick<Context, 'launcher' | 'log'>, machineId: string) {
  await launcher
    .leave(machineId)
    .catch((err) => log.warn({ machine: machineId, err }, 'what a container left is still there'))
}
