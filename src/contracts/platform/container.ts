import { z } from 'zod'
import { flag, integer, list, oneOf, pair, record, text, uuid } from './fields.ts'

/** Of groups and of GPU prices, highest first. */
export const priorities = ['high', 'medium', 'low', 'batch'] as const

const MOST_MEGABYTES = 1_073_741_824
const GIBIBYTE = 1_073_741_824
const PEBIBYTE = 1_125_899_906_842_624

const word = text(1, 1000)
const port = integer(1, 65_535)
const pairs = list(pair(word, word), 0, 1000).default([])

const destinations = {
  axiom: record({ host: word, api_token: word, dataset: word }),
  datadog: record({ host: word, api_key: word, tags: pairs }),
  new_relic: record({ host: word, ingestion_key: word }),
  splunk: record({ host: word, token: word }),
  http: record({
    host: word,
    port,
    compression: oneOf(['none', 'gzip']),
    format: oneOf(['json', 'json_lines']),
    user: word.optional(),
    password: word.optional(),
    path: word.optional(),
    headers: pairs,
  }),
  tcp: record({ host: word, port }),
}
const { axiom, datadog, new_relic, splunk, http, tcp } = destinations

const loggingSchema = record({
  axiom: axiom.optional(),
  datadog: datadog.optional(),
  new_relic: new_relic.optional(),
  splunk: splunk.optional(),
  http: http.optional(),
  tcp: tcp.optional(),
}).refine((logging) => Object.keys(logging).length <= 1, 'must have at most one destination')

const secret = text(1, 10_000)
const registryAuthenticationSchema = record({
  basic: record({ username: secret, password: secret }).optional(),
  docker_hub: record({ username: secret, personal_access_token: secret }).optional(),
  aws_ecr: record({ access_key_id: secret, secret_access_key: secret }).optional(),
  gcp_gar: record({ service_key: secret }).optional(),
  gcp_gcr: record({ service_key: secret }).optional(),
}).refine((given) => Object.keys(given).length === 1, 'must have exactly one kind of registry')

/** What a container needs of its node. */
export const resourcesSchema = record({
  /** Virtual CPUs. */
  cpu: integer(1, 1024),
  /** MB. */
  memory: integer(1024, MOST_MEGABYTES),
  /** MB. */
  shm_size: integer(64, MOST_MEGABYTES).default(64),
  /** Bytes. */
  storage_amount: integer(GIBIBYTE, PEBIBYTE).default(GIBIBYTE),
  gpu_classes: list(uuid(), 0, 100).default([]),
})

const shown = {
  image: text(1, 2048),
  command: list(text(1, 2048), 0, 100).default([]),
  image_caching: flag().default(false),
  environment_variables: z
    .record(text(1, 2048), text(1, 1000), { error: 'must be an object of texts' })
    .refine((variables) => Object.keys(variables).every((name) => !name.includes('=')), 'names must not contain =')
    .default({}),
  resources: resourcesSchema,
  logging: loggingSchema.optional(),
}

/** What runs in each instance, as its owner writes it (platform reference, section 8.6). */
export const containerInputSchema = record({
  ...shown,
  priority: oneOf(priorities).default('high'),
  registry_authentication: registryAuthenticationSchema.optional(),
})

/** The same as others read it: without the keys to its registry. */
export const containerSchema = z.strictObject({
  ...shown,
  hash: z
    .string()
    .regex(/^sha\d{1,3}:[a-fA-F0-9]{40,135}$/)
    .optional(),
  /** Bytes of the compressed image. */
  size: z.number().int().min(0).optional(),
})

export type ContainerInput = z.infer<typeof containerInputSchema>
