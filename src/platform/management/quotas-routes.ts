import { Router } from 'express'
import type { Quotas } from '../../contracts/platform/quotas.ts'
import type { Db } from '../base/database.ts'
import { sendJson } from '../base/json.ts'
import { replicasUsed } from '../base/replica-quota.ts'
import { organizationOf } from './organization.ts'

/** The same for every organization. */
export interface QuotaSettings {
  readonly replicaQuota: number
  readonly restartsPerMinute: number
  readonly recreatesPerMinute: number
  readonly reallocationsPerMinute: number
}

/** `GET …/quotas`: what the organization may have and do at most (section 13). */
export function createQuotasRoutes(db: Db, settings: QuotaSettings): Router {
  const router = Router()
  router.get('/quotas', async (_request, response) => {
    const { id } = organizationOf(response)
    const used = await replicasUsed(db, id)
    const { create_time } = await db
      .selectFrom('organizations')
      .select('create_time')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const time = create_time.toISOString()
    sendJson(response, {
      container_groups_quotas: {
        container_replicas_quota: settings.replicaQuota,
        container_replicas_used: used,
        max_container_group_reallocations_per_minute: settings.reallocationsPerMinute,
        max_container_group_recreates_per_minute: settings.recreatesPerMinute,
        max_container_group_restarts_per_minute: settings.restartsPerMinute,
      },
      create_time: time,
      update_time: time,
    } satisfies Quotas)
  })
  return router
}
