import type { Context } from './context.ts'
import { findGroup, type GroupRecord, isUp, logGroupEvent } from './group-record.ts'
import { leaveBehind, leaveNode, startAgain } from './instance-moves.ts'
import type { Run } from './run.ts'

const SIGKILLED = 137

/** Decides what becomes of an instance whose container has ended by itself (platform reference, section 17). */
export async function handleEnd(context: Context, run: Run, code: number): Promise<void> {
  const { db, now, failures, settings, changed } = context
  if (run.stopping) return changed(run.groupId)
  const instance = await db
    .selectFrom('instances')
    .selectAll()
    .where('id', '=', run.instanceId)
    .where('state', 'in', ['creating', 'running'])
    .executeTakeFirst()
  const group = instance && (await findGroup(db, run.groupId))
  if (!instance || !group || !isUp(group)) return changed(run.groupId)
  const severity = code === 0 ? 'info' : 'warning'
  await logGroupEvent(db, group, now(), `Instance ${exitName(code)}`, { instance, severity })

  const policy = group.definition.restart_policy
  if (policy === 'never' || (policy === 'on_failure' && code === 0)) {
    await leaveBehind(context, instance.machine_id)
    await db.deleteFrom('instances').where('id', '=', instance.id).execute()
    await countEnded(context, group, code)
    return changed(group.id)
  }
  const inARow = code === 0 ? 0 : (failures.get(run.machineId) ?? 0) + 1
  failures.set(run.machineId, inARow)
  // Either way the next tick goes on, so that one that ends at once does not keep this machine busy.
  if (inARow < settings.exitsBeforeMove)
    return startAgain(context, group, instance, { fresh: false, event: 'Instance Restarted' })
  failures.delete(run.machineId)
  const event = 'Instance Reallocated by Platform'
  await leaveNode(context, group, instance, { event, severity: 'warning', reason: `${inARow} exits in a row` })
}

async function countEnded({ db }: Context, { id, ended, ended_code }: GroupRecord, code: number): Promise<void> {
  await db
    .updateTable('container_groups')
    .set({ ended: ended + 1, ended_code: code === 0 ? ended_code : code })
    .where('id', '=', id)
    .execute()
}

function exitName(code: number): string {
  if (code === 0) return 'Exited:0 (Exited Successfully)'
  return code === SIGKILLED ? `Exited:${code} (Likely Out of System Memory)` : `Exited:${code} (Error)`
}
