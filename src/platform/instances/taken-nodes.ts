import type { Db } from '../base/database.ts'

/** Nodes that hold an instance of anyone, or that an organization stays away from at `time` (epoch milliseconds). */
export async function takenNodes(db: Db, organizationId: string, time: number): Promise<Set<string>> {
  const held = await db.selectFrom('instances').select('machine_id').where('state', '!=', 'allocating').execute()
  const excluded = await db
    .selectFrom('node_exclusions')
    .select('machine_id')
    .where('organization_id', '=', organizationId)
    .where('until', '>', new Date(time))
    .execute()
  return new Set([...held, ...excluded].map(({ machine_id }) => machine_id))
}
