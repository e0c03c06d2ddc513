import { z } from 'zod'
import { containerInputSchema, containerSchema, priorities } from './container.ts'
import { countryCodesSchema } from './country-codes.ts'
import { flag, integer, list, oneOf, record, text } from './fields.ts'
import { nameSchema as name } from './names.ts'
import { probeSchemas } from './probe.ts'

export const groupStatuses = ['pending', 'running', 'stopped', 'succeeded', 'failed', 'deploying'] as const

const displayName = text(2, 63).regex(/^[ ,-.0-9A-Za-z]+$/, 'must be letters, digits, spaces, commas, dots and hyphens')
const replicas = integer(0, 500)
/** Milliseconds. */
const timeout = integer(1, 100_000).default(100_000)

const networkingSchema = record({
  auth: flag(),
  protocol: oneOf(['http']),
  port: integer(1, 65_535),
  load_balancer: oneOf(['round_robin', 'least_number_of_connections']).default('round_robin'),
  client_request_timeout: timeout,
  server_response_timeout: timeout,
  single_connection_limit: flag().default(false),
})

const autoscalerSchema = record({
  desired_queue_length: integer(1, 100),
  min_replicas: integer(0, 100),
  max_replicas: integer(1, 500),
  max_upscale_per_minute: integer(1, 100).optional(),
  max_downscale_per_minute: integer(1, 100).optional(),
  /** Seconds. */
  polling_period: integer(15, 1800).optional(),
}).refine(
  ({ min_replicas, max_replicas }) => min_replicas <= max_replicas,
  'min_replicas must not be above max_replicas',
)

const parts = {
  country_codes: countryCodesSchema.default([]),
  'scheduled-scaling-enabled': flag().default(false),
  'scaling-actions': list(
    record({
      replicas,
      schedule: text(9, 1000).regex(
        /^([0-9A-Za-z*/,-]+)([\t ]+[0-9A-Za-z*/,-]+){4}$/,
        'must be a cron schedule of five fields',
      ),
    }),
    0,
    100,
  ).default([]),
  autostart_policy: flag(),
  restart_policy: oneOf(['always', 'on_failure', 'never']),
  replicas,
  readme: text(2, 65_000).optional(),
  queue_autoscaler: autoscalerSchema.optional(),
  queue_connection: record({ path: text(1, 1024), port: integer(1, 65_535), queue_name: name }).optional(),
  liveness_probe: probeSchemas.liveness_probe.optional(),
  readiness_probe: probeSchemas.readiness_probe.optional(),
  startup_probe: probeSchemas.startup_probe.optional(),
}

/**
 * A group as its owner defines it, in a create body or in the result of a merge patch; parsing fills in the defaults.
 * Members that can only be read are dropped (platform reference, sections 8.9 and 8.10).
 */
export const groupDefinitionSchema = record({
  ...parts,
  name,
  display_name: displayName.optional(),
  container: containerInputSchema,
  networking: networkingSchema.optional(),
})
  .refine(({ queue_autoscaler, queue_connection }) => !queue_autoscaler || queue_connection, {
    path: ['queue_autoscaler'],
    message: 'needs a queue_connection',
  })
  .transform((group) => ({ ...group, display_name: group.display_name ?? group.name }))

const time = z.iso.datetime()
const hostName = z
  .string()
  .max(253)
  .regex(/^([a-z][a-z0-9-]{0,61}[a-z0-9]\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]$/)

/** A group as others read it (platform reference, section 8.5). */
export const containerGroupSchema = z.strictObject({
  ...parts,
  id: z.uuid(),
  name,
  display_name: displayName,
  organization_name: z.string(),
  project_name: z.string(),
  create_time: time,
  update_time: time,
  version: z.number().int().min(1),
  priority: z.enum(priorities),
  pending_change: z.boolean(),
  current_state: z.strictObject({
    status: z.enum(groupStatuses),
    description: z.string().max(1000),
    start_time: time,
    finish_time: time,
    instance_status_counts: z.strictObject({
      allocating_count: z.number().int(),
      creating_count: z.number().int(),
      running_count: z.number().int(),
      stopping_count: z.number().int(),
    }),
  }),
  container: containerSchema,
  networking: networkingSchema.extend({ dns: hostName }).optional(),
})

/** A page of the groups of a project. */
export const containerGroupListSchema = z.strictObject({ items: z.array(containerGroupSchema).max(100) })

export type GroupDefinition = z.infer<typeof groupDefinitionSchema>
export type ContainerGroup = z.infer<typeof containerGroupSchema>
