import { sql } from 'kysely'
import type { Context } from './context.ts'
import { type GroupRecord, logGroupEvent } from './group-record.ts'

/** How many of the instances that ended by themselves still count: a smaller group loses these first. */
export const endedAfter = ({ ended, definition }: GroupRecord, replicas: number): number =>
  Math.max(0, ended - Math.max(0, definition.replicas - replicas))

/** The event of a new number of replicas. */
export const replicasEvent = (from: number, to: number): string =>
  `Container Group Desired Replica Count Updated from ${from} to ${to}`

/** Gives a group another number of replicas, as its owner could; nothing happens when it has it. */
export async function setReplicas(
  { db, now }: Pick<Context, 'db' | 'now'>,
  group: GroupRecord,
  replicas: number,
): Promise<void> {
  const before = group.definition.replicas
  if (replicas === before) return
  const time = now()
  await db
    .updateTable('container_groups')
    .set({
      definition: sql`jsonb_set(definition, '{replicas}', to_jsonb(${replicas}::integer))`,
      ended: endedAfter(group, replicas),
      pending_change: true,
      update_time: new Date(time),
    })
    .where('id', '=', group.id)
    .execute()
  await logGroupEvent(db, group, time, replicasEvent(before, replicas))
}
