import type { Updateable } from 'kysely'
import type { Tables } from '../base/tables.ts'
import type { Context } from './context.ts'
import { findGroup, type GroupRecord, type InstanceRecord, isUp, logGroupEvent, wantedOf } from './group-record.ts'
import { ImageUnavailable, type PreparedImage } from './launcher.ts'

type Change = Updateable<Tables['container_groups']>
type Base = Pick<Context, 'db' | 'now'>

const MAX_DESCRIPTION = 1000

/** Changes what is state of a group. */
export const changeGroup = async ({ db }: Pick<Context, 'db'>, id: string, change: Change): Promise<void> => {
  await db.updateTable('container_groups').set(change).where('id', '=', id).execute()
}

/** A group starts (platform reference, section 16): from here on it has a new start_time, and nothing has ended. */
export async function deploy(base: Base, group: GroupRecord): Promise<void> {
  const time = base.now()
  const start_time = new Date(time)
  await changeGroup(base, group.id, {
    status: 'deploying',
    description: '',
    pending_change: true,
    start_time,
    finish_time: start_time,
    ended: 0,
    ended_code: null,
  })
  await logGroupEvent(base.db, group, time, 'Container Group Started')
}

/** A group ends, or is kept from starting; its instances stop with the next look. */
export async function finish(
  base: Base,
  group: GroupRecord,
  status: 'stopped' | 'succeeded' | 'failed',
  description = '',
): Promise<void> {
  const time = base.now()
  await changeGroup(base, group.id, {
    status,
    description: description.slice(0, MAX_DESCRIPTION),
    pending_change: true,
    finish_time: new Date(time),
  })
  const severity = status === 'failed' ? 'warning' : 'info'
  await logGroupEvent(base.db, group, time, 'Container Group Stopped', { severity })
}

/** Gets the image of a group ready, once at a time; then the group goes on. */
export function prepareGroup(context: Context, group: GroupRecord): void {
  const { db, launcher, preparing, inTurn, changed } = context
  if (preparing.has(group.id)) return
  preparing.add(group.id)
  const done = (failure: unknown, image: PreparedImage = {}) =>
    inTurn(async () => {
      preparing.delete(group.id)
      if (failure !== undefined && !(failure instanceof ImageUnavailable)) throw failure // the next look tries again
      const current = await findGroup(db, group.id)
      if (!current || current.deleted) return
      const { hash = null, size = null } = image
      const known = { image_hash: hash, image_size: size }
      await changeGroup(context, group.id, { ...known, preparing: false, start_when_prepared: false })
      if (failure) await finish(context, current, 'failed', failure.message)
      else if (current.status === 'pending' && current.start_when_prepared) await deploy(context, current)
      else if (current.status === 'pending') await finish(context, current, 'stopped')
      changed(group.id)
    })
  launcher.prepare(group.definition.container).then((image) => done(undefined, image), done)
}

/** Brings status and pending_change in line with the instances there are. */
export async function settleGroup(base: Base, group: GroupRecord, instances: readonly InstanceRecord[]): Promise<void> {
  const running = instances.filter(({ state }) => state === 'running')
  if (group.deleted && instances.length === 0) {
    await base.db.deleteFrom('container_groups').where('id', '=', group.id).execute()
    return
  }
  if (isUp(group) && group.ended > 0 && group.ended >= group.definition.replicas && instances.length === 0) {
    const { ended_code: code } = group
    if (code === null) return finish(base, group, 'succeeded')
    return finish(base, group, 'stopped', `An instance exited with code ${code}.`)
  }
  if (group.status === 'deploying' && running.length > 0) await changeGroup(base, group.id, { status: 'running' })
  const isCurrent = running.length === instances.length && running.every(({ version }) => version === group.version)
  if (group.pending_change && !group.preparing && isCurrent && running.length === wantedOf(group))
    await changeGroup(base, group.id, { pending_change: false })
}
