import { join, resolve } from 'node:path'
import { z } from 'zod'
import { nonEmpty, readEnvironment } from '../common/environment.ts'
import { logLevels } from '../common/log.ts'

const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const port = (number: number) => integer(0, 65_535).default(number)
const perMinute = integer(0, 1_000_000)
/** Read in seconds, given in milliseconds. */
const seconds = (usual: number, min = 0) =>
  z.coerce
    .number()
    .min(min)
    .max(100_000_000)
    .default(usual)
    .transform((number) => number * 1000)
const boolean = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')
/** Without a slash at the end, for paths are appended to it. */
const baseUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''))
const GROUPS_FILE = 'container-group.json'
const HOUR_S = 3600
const DAY_S = 24 * HOUR_S
/** Two folders up from this file, in `src` and in `dist` alike: the application's own folder. */
const application = resolve(import.meta.dirname, '../..')
/** What else the workload of the endpoints is told, where it is set: which device it works on, and how. */
const FOR_WORKLOAD = ['EXECUTION_PROVIDER', 'DEVICES', 'ENGINE_THREADS', 'CUDA_VISIBLE_DEVICES', 'LD_LIBRARY_PATH']

const environmentSchema = z.object({
  PLATFORM_HOST: z.string().default('127.0.0.1'),
  MANAGEMENT_PORT: port(8000),
  STORAGE_PORT: port(8001),
  IMDS_PORT: port(8002),
  GATEWAY_PORT: port(8080),
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
  LAUNCHER: z.enum(['process', 'docker', 'auto']).default('process'),
  DOCKER_HOST: z.string().default('unix:///var/run/docker.sock'),
  IMAGES_FILE: z.string().optional(),
  CONTAINER_GROUPS_FILE: z.string().optional(),
  ENDPOINTS_FILE: z.string().optional(),
  MODEL_DIR: z.string().optional(),
  CACHE_DIR: z.string().optional(),
  OUTBOUND_ALLOW: z.string().optional(),
  REQUESTS_PER_MINUTE: perMinute.default(240),
  RESTARTS_PER_MINUTE: perMinute.default(10),
  RECREATES_PER_MINUTE: perMinute.default(10),
  REALLOCATIONS_PER_MINUTE: perMinute.default(10),
  REPLICA_QUOTA: integer(0, 1_000_000).default(10),
  JOB_ATTEMPTS: integer(1, 100).default(4),
  JOB_LEASE_S: seconds(60, 1),
  JOB_LEASE_RENEWAL_S: seconds(20, 0.1),
  JOB_RETENTION_S: seconds(DAY_S),
  WORKER_POLL_S: seconds(1, 0.1),
  STOP_GRACE_S: seconds(30),
  EXITS_BEFORE_MOVE: integer(1, 1000).default(3),
  NODE_EXCLUSION_S: seconds(48 * HOUR_S),
  AUTOSCALER_POLL_S: seconds(30, 1),
  TOKEN_ISSUER: z.string().max(80).optional(),
  TOKEN_LIFETIME_S: integer(60, 3600).default(300),
  TOKEN_CACHE_S: integer(0, 3600).default(180),
  STORAGE_MAX_REQUEST_BYTES: integer(1, 5 * 2 ** 30).default(100 * 2 ** 20),
  STORAGE_RETENTION_S: seconds(30 * DAY_S),
  STORAGE_UPLOAD_EXPIRY_S: seconds(7 * DAY_S),
  WEBHOOK_WAITS_S: z
    .string()
    .regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, 'must be a comma list of seconds')
    .default('0,5,300,1800,7200,18000,36000,36000')
    .transform((list) => list.split(',').map((number) => Number(number) * 1000)),
  WEBHOOK_TIMEOUT_S: seconds(15, 0.1),
  WEBHOOK_BLOCK_PRIVATE: boolean,
  LOG_RETENTION_S: seconds(90 * DAY_S),
})

/** Reads the environment once, at start. A bad value throws one error that names every bad variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const set = nonEmpty(environment)
  const of = readEnvironment(environmentSchema, set)
  const { PATH = '/usr/bin:/bin', HOME = '/tmp' } = set
  const modelDir = resolve(of.MODEL_DIR ?? join(application, 'models'))
  return {
    /** What containers find of this process's environment: enough to run programs, and none of its secrets. */
    containerEnvironment: { PATH, HOME },
    /** Of reference workloads that are processes of this machine. */
    modelDir,
    host: of.PLATFORM_HOST,
    management: { port: of.MANAGEMENT_PORT, baseUrl: of.PLATFORM_BASE_URL, requestsPerMinute: of.REQUESTS_PER_MINUTE },
    logLevel: of.LOG_LEVEL,
    logRetentionMs: of.LOG_RETENTION_S,
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
      settings: {
        requestBytes: of.STORAGE_MAX_REQUEST_BYTES,
        retentionMs: of.STORAGE_RETENTION_S,
        uploadMs: of.STORAGE_UPLOAD_EXPIRY_S,
      },
    },
    imds: {
      port: of.IMDS_PORT,
      /** The management API's address if not given. */
      issuer: of.TOKEN_ISSUER,
      tokenSeconds: of.TOKEN_LIFETIME_S,
      cacheSeconds: of.TOKEN_CACHE_S,
    },
    gateway: { port: of.GATEWAY_PORT, domain: of.GATEWAY_DOMAIN },
    jobs: {
      attempts: of.JOB_ATTEMPTS,
      leaseMs: of.JOB_LEASE_S,
      renewMs: of.JOB_LEASE_RENEWAL_S,
      retentionMs: of.JOB_RETENTION_S,
      readinessMs: of.WORKER_POLL_S,
    },
    instances: {
      graceMs: of.STOP_GRACE_S,
      exitsBeforeMove: of.EXITS_BEFORE_MOVE,
      exclusionMs: of.NODE_EXCLUSION_S,
      autoscalerMs: of.AUTOSCALER_POLL_S,
      replicaQuota: of.REPLICA_QUOTA,
    },
    webhooks: { waitsMs: of.WEBHOOK_WAITS_S, timeoutMs: of.WEBHOOK_TIMEOUT_S, blockPrivate: of.WEBHOOK_BLOCK_PRIVATE },
    endpointsFile: of.ENDPOINTS_FILE,
    /** The reference workload that the platform runs for inference endpoints. */
    endpointWorkload: {
      environment: {
        ...{ PATH, HOME },
        MODEL_DIR: modelDir,
        ...(of.CACHE_DIR !== undefined && { CACHE_DIR: resolve(of.CACHE_DIR) }),
        ...Object.fromEntries(FOR_WORKLOAD.flatMap((name) => (set[name] === undefined ? [] : [[name, set[name]]]))),
        LOG_LEVEL: 'warn',
      } as Readonly<Record<string, string>>,
      /** Hosts, addresses and CIDR blocks that URLs of jobs may lead to although they are not public; a comma list. */
      outboundAllow: of.OUTBOUND_ALLOW,
    },
    /** Queue workers that are processes of their own have the settings of the platform: they read the same variables. */
    workerEnvironment: set,
    seedFile: of.PLATFORM_SEED,
    gpuClassesFile: of.GPU_CLASSES_FILE,
    /** What containers are: processes, Docker's, or Docker's where an engine answers. */
    launcher: of.LAUNCHER,
    dockerHost: of.DOCKER_HOST,
    /** What processes run in place of images. */
    imagesFile: of.IMAGES_FILE,
    /** Container groups that there are from the start: the operator's file, else the one in the data folder if it is there. */
    firstGroups: { file: of.CONTAINER_GROUPS_FILE, usual: join(resolve(of.PLATFORM_DATA_DIR), GROUPS_FILE) },
    quotas: {
      replicaQuota: of.REPLICA_QUOTA,
      restartsPerMinute: of.RESTARTS_PER_MINUTE,
      recreatesPerMinute: of.RECREATES_PER_MINUTE,
      reallocationsPerMinute: of.REALLOCATIONS_PER_MINUTE,
    },
  } as const
}

const given = z.string({ error: 'is required' })

const workerSchema = z.object({
  DATABASE_URL: given.pipe(z.url({ protocol: /^postgres(ql)?$/ })),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  WORKER_QUEUE: given.regex(/^[^:]+$/, 'must be the name of a queue of BullMQ'),
  WORKER_PORT: given.transform(Number).pipe(z.int().min(1).max(65_535)),
  WORKER_PATH: given,
  INSTANCE_METADATA_URI: z.url({ protocol: /^https?$/ }).default('http://169.254.169.254:80'),
  WORKER_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('error'),
  WORKER_POLL_S: seconds(5, 0.1),
  JOB_ATTEMPTS: environmentSchema.shape.JOB_ATTEMPTS,
  JOB_LEASE_S: environmentSchema.shape.JOB_LEASE_S,
  JOB_LEASE_RENEWAL_S: environmentSchema.shape.JOB_LEASE_RENEWAL_S,
  STOP_GRACE_S: environmentSchema.shape.STOP_GRACE_S,
})

/**
 * The environment of a queue worker that is a process of its own (platform reference, section 15.1). What is settings of
 * the platform must be as the platform has it. A bad value throws one error that names every bad variable.
 */
export function readWorkerConfig(environment: NodeJS.ProcessEnv = process.env) {
  const of = readEnvironment(workerSchema, environment)
  return {
    databaseUrl: of.DATABASE_URL,
    redisUrl: of.REDIS_URL,
    queue: of.WORKER_QUEUE,
    port: of.WORKER_PORT,
    path: of.WORKER_PATH,
    imds: of.INSTANCE_METADATA_URI,
    logLevel: of.WORKER_LOG_LEVEL,
    graceMs: of.STOP_GRACE_S,
    settings: {
      attempts: of.JOB_ATTEMPTS,
      leaseMs: of.JOB_LEASE_S,
      renewMs: of.JOB_LEASE_RENEWAL_S,
      readinessMs: of.WORKER_POLL_S,
    },
  } as const
}

/** Everything the platform is told at start. */
export type Config = ReturnType<typeof readConfig>
