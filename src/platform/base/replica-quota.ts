import { sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * How many replicas the container groups of an organization may come to together: the most its autoscaler may ask for, else
 * what it asks for; stopped ones count too (section 13).
 */
export async function replicasUsed(db: Db, organizationId: string): Promise<number> {
  const { used } = await db
    .selectFrom('container_groups')
    .select(
      sql<number>`coalesce(sum(coalesce(definition -> 'queue_autoscaler' ->> 'max_replicas', definition ->> 'replicas')::integer), 0)::integer`.as(
        'used',
      ),
    )
    .where('organization_id', '=', organizationId)
    .where('deleted', '=', false)
    .executeTakeFirstOrThrow()
  return used
}
