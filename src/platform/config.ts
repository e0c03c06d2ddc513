import { resolve } from 'node:path'
import { z } from 'zod'
import { readEnvironment } from '../common/environment.ts'
import { logLevels } from '../common/log.ts'

const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const perMinute = integer(0, 1_000_000)
/** Without a slash at the end, for paths are appended to it. */
const baseUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''))

const environmentSchema = z.object({
  PLATFORM_HOST: z.string().default('127.0.0.1'),
  MANAGEMENT_PORT: integer(0, 65_535).default(8000),
  STORAGE_PORT: integer(0, 65_535).default(8001),
  GATEWAY_PORT: integer(0, 65_535).default(8080),
  GATEWAY_DOMAIN: z.string().default('localhost'),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  STORAGE_S3_BUCKET: z.string().optional(),
  AWS_REGION: z.string().default('us-east-1'),
  AWS_ENDPOINT_URL: z.url().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  PLATFORM_BASE_URL: baseUrl.optional(),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  PLATFORM_DATA_DIR: z.string().default('platform-data'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  PLATFORM_SEED: z.string().optional(),
  GPU_CLASSES_FILE: z.string().optional(),
  REQUESTS_PER_MINUTE: perMinute.default(240),
  RESTARTS_PER_MINUTE: perMinute.default(10),
  RECREATES_PER_MINUTE: perMinute.default(10),
  REALLOCATIONS_PER_MINUTE: perMinute.default(10),
  REPLICA_QUOTA: integer(0, 1_000_000).default(10),
})

/** Reads the environment once, at start. A bad value throws one error that names every bad variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const of = readEnvironment(environmentSchema, environment)
  const { PATH = '/usr/bin:/bin', HOME = '/tmp' } = environment
  return {
    /** What containers find of this process's environment: enough to run programs, and none of its secrets. */
    containerEnvironment: { PATH, HOME },
    host: of.PLATFORM_HOST,
    management: { port: of.MANAGEMENT_PORT, baseUrl: of.PLATFORM_BASE_URL, requestsPerMinute: of.REQUESTS_PER_MINUTE },
    logLevel: of.LOG_LEVEL,
    /** Of this process alone: its database, where it has no server, and what it writes down for others. */
    dataDir: resolve(of.PLATFORM_DATA_DIR),
    databaseUrl: of.DATABASE_URL,
    redisUrl: of.REDIS_URL,
    storage: {
      port: of.STORAGE_PORT,
      bucket: of.STORAGE_S3_BUCKET,
      s3: {
        region: of.AWS_REGION,
        endpoint: of.AWS_ENDPOINT_URL,
        credentials:
          of.AWS_ACCESS_KEY_ID === undefined || of.AWS_SECRET_ACCESS_KEY === undefined
            ? undefined
            : { accessKeyId: of.AWS_ACCESS_KEY_ID, secretAccessKey: of.AWS_SECRET_ACCESS_KEY },
      },
    },
    gateway: { port: of.GATEWAY_PORT, domain: of.GATEWAY_DOMAIN },
    seedFile: of.PLATFORM_SEED,
    gpuClassesFile: of.GPU_CLASSES_FILE,
    quotas: {
      replicaQuota: of.REPLICA_QUOTA,
      restartsPerMinute: of.RESTARTS_PER_MINUTE,
      recreatesPerMinute: of.RECREATES_PER_MINUTE,
      reallocationsPerMinute: of.REALLOCATIONS_PER_MINUTE,
    },
  } as const
}

/** Everything the platform is told at start. */
export type Config = ReturnType<typeof readConfig>
