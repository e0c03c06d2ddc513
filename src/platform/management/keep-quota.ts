import { sql } from 'kysely'
import type { GroupDefinition } from '../../contracts/platform/container-group.ts'
import type { Db } from '../base/database.ts'
import { PlatformError } from '../base/errors.ts'
import { replicasUsed } from '../base/replica-quota.ts'

/** What a group takes of the quota: as many instances as it may ever have, also while it is stopped. */
export const replicasTaken = ({ queue_autoscaler, replicas }: GroupDefinition): number =>
  queue_autoscaler?.max_replicas ?? replicas

/** Throws 403 when the groups, one of which has `added` replicas more than before, are beyond the quota. */
export async function keepQuota(db: Db, organizationId: string, quota: number, added: number): Promise<void> {
  if (added <= 0 || (await replicasUsed(db, organizationId)) <= quota) return
  throw new PlatformError(403, `The organization has a quota of ${quota} container replicas.`, {
    slug: 'quota_exceeded',
  })
}

/** Lets one transaction at a time change the groups of an organization. */
export async function lockGroups(db: Db, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(7302, hashtext(${organizationId}))`.execute(db)
}
