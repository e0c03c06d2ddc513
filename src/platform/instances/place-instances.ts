import { randomUUID } from 'node:crypto'
import type { Context } from './context.ts'
import { type GroupRecord, type InstanceRecord, instancesOf, logGroupEvent } from './group-record.ts'
import { takenNodes } from './taken-nodes.ts'

/** Adds instances until there are as many as wanted. */
export async function addInstances({ db, now }: Context, group: GroupRecord, missing: number): Promise<void> {
  const time = new Date(now())
  const rows = Array.from({ length: missing }, () => ({
    id: randomUUID(),
    group_id: group.id,
    machine_id: randomUUID(), // none yet, but readers are promised one
    state: 'allocating' as const,
    version: group.version,
    port: null,
    create_time: time,
    update_time: time,
  }))
  if (rows.length > 0) await db.insertInto('instances').values(rows).execute()
}

/** Gives nodes to those that wait for one, as far as there are any. */
export async function placeInstances(context: Context, group: GroupRecord): Promise<void> {
  const { db, now, nodes } = context
  const waiting = (await instancesOf(db, group.id)).filter(({ state }) => state === 'allocating')
  if (waiting.length === 0) return
  // A container may still be ending on a node that holds no instance any more.
  const taken = new Set([...(await takenNodes(db, group.organization_id, now())), ...context.runs.keys()])
  for (const instance of waiting) {
    const machine_id = nodes.find(group.definition.container.resources, taken)
    if (machine_id === undefined) return
    taken.add(machine_id)
    const time = now()
    await db
      .updateTable('instances')
      .set({ machine_id, state: 'creating', version: group.version, update_time: new Date(time) })
      .where('id', '=', instance.id)
      .where('state', '=', 'allocating')
      .execute()
    const placed: InstanceRecord = { ...instance, machine_id }
    await logGroupEvent(db, group, time, 'Instance Allocated', { instance: placed })
    await logGroupEvent(db, group, time, 'Instance Creating', { instance: placed })
  }
}
