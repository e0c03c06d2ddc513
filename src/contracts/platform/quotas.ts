import { z } from 'zod'

const count = z.number().int().min(0)

/** What an organization may have and do at most, and what it has (section 8.13). */
export const quotasSchema = z
  .object({
    container_groups_quotas: z.object({
      container_replicas_quota: count,
      container_replicas_used: count,
      max_container_group_reallocations_per_minute: count,
      max_container_group_recreates_per_minute: count,
      max_container_group_restarts_per_minute: count,
    }),
    create_time: z.iso.datetime(),
    update_time: z.iso.datetime(),
  })
  .meta({ id: 'Quotas', description: 'Limits of an organization.' })

/** Signs the webhooks of an organization: base64 without a prefix. */
export const webhookSecretSchema = z
  .object({ secret_key: z.string().regex(/^[+/=0-9A-Za-z]{44,172}$/) })
  .meta({ id: 'WebhookSecret', description: 'What webhooks of the organization are signed with.' })

export type Quotas = z.infer<typeof quotasSchema>
