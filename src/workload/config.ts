import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { nonEmpty, readEnvironment } from '../common/environment.ts'
import { logLevels } from '../common/log.ts'
import { systemEventsSchema } from '../contracts/system-event.ts'
import { instanceFacts } from './base/instance-facts.ts'

/** Two folders up from this file, in `src` and in `dist` alike: the application's own folder. */
const application = resolve(import.meta.dirname, '../..')

const integer = (min: number, max = Number.MAX_SAFE_INTEGER) => z.coerce.number().int().min(min).max(max)
const number = z.coerce.number().min(0)
const boolean = z.enum(['true', 'false']).transform((text) => text === 'true')

/** A comma list; empty when it is not set. */
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean),
  )
const httpUrl = z.url({ protocol: /^https?$/ })

const environmentSchema = z.object({
  HOST: z.string().default('::'),
  PORT: integer(0, 65_535).default(3000),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  API_KEY: z.string().optional(),
  MAX_BODY_SIZE_MB: integer(1, 500).default(100),
  INPUT_MAX_MB: integer(1).default(100),
  MAX_QUEUE_DEPTH: integer(0).default(0),
  MAX_CONCURRENT_PROMPTS: integer(1).default(8),
  PROMPT_TIMEOUT_S: number.max(1_000_000).default(3600),
  SHUTDOWN_GRACE_S: number.max(1_000_000).default(25),
  HEALTH_STALL_S: number.min(1).max(1_000_000).default(120),
  UPLOAD_ATTEMPTS: integer(1, 100).default(5),
  UPLOAD_TIMEOUT_S: number.min(1).max(100_000).default(300),
  AWS_REGION: z.string().optional(),
  AWS_DEFAULT_REGION: z.string().optional(),
  AWS_ENDPOINT_URL: z.url().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  S3_ALLOWED_BUCKETS: list,
  AZURE_STORAGE_CONNECTION_STRING: z.string().optional(),
  AZURE_STORAGE_ACCOUNT: z.string().optional(),
  AZURE_STORAGE_KEY: z.string().optional(),
  AZURE_STORAGE_SAS_TOKEN: z.string().optional(),
  STORAGE_URL: httpUrl.optional(),
  STORAGE_ORGANIZATION: z.string().optional(),
  STORAGE_API_KEY: z.string().optional(),
  HF_TOKEN: z.string().optional(),
  INSTANCE_METADATA_URI: httpUrl.default('http://169.254.169.254:80'),
  HTTP_AUTH_HEADER_NAME: z.string().optional(),
  HTTP_AUTH_HEADER_VALUE: z.string().optional(),
  HTTP_AUTH_HEADER_HOSTS: list,
  OUTBOUND_ALLOW: list.refine(
    (hosts) => hosts.every((each) => /^[\w.:/-]+$/.test(each)),
    'must be hosts, addresses or CIDR blocks',
  ),
  WEBHOOK_SECRET: z.string().optional(),
  PROMPT_WEBHOOK_RETRIES: integer(1, 100).default(8),
  WEBHOOK_TIMEOUT_S: number.min(0.1).max(100_000).default(15),
  WEBHOOK_SCHEDULE_S: z
    .string()
    .regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, 'must be seconds separated by commas, e.g. 0,1,5,30')
    .default('0,1,5,30,120,300,600,900')
    .transform((text) => text.split(',').map(Number)),
  WEBHOOK_MAX_MB: integer(1).default(1024),
  PUBLIC_URL: httpUrl.optional(),
  SYSTEM_WEBHOOK_URL: httpUrl.optional(),
  SYSTEM_WEBHOOK_EVENTS: list.pipe(systemEventsSchema),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  DATA_DIR: z.string().optional(),
  JOB_STORE: z.enum(['durable', 'memory']).default('durable'),
  TAKEOVER_AFTER_S: number.min(1).max(3600).default(30),
  PROMPT_ATTEMPTS: integer(1, 100).default(3),
  CREDENTIALS_KEY: z.string().optional(),
  JOB_ID_HEADER: z
    .string()
    .regex(/^[\w-]*$/)
    .default('Job-Id'),
  CACHE_DIR: z.string().optional(),
  LRU_CACHE_SIZE_GB: number.default(0),
  INPUT_CACHE_MB: number.default(1024),
  INPUT_MAX_PIXELS: integer(1).default(100_000_000),
  DOWNLOAD_MAX_GB: number.default(100),
  DISK_MIN_FREE_MB: number.default(1024),
  MANIFEST: z.string().optional(),
  MANIFEST_JSON: z.string().optional(),
  JOB_RETENTION_S: number.max(100_000_000).default(3600),
  JOB_RETENTION_MB: number.default(1024),
  PREPEND_FILENAMES: boolean.default(true),
  COMFY_HOME: z.string().default(application),
  INPUT_DIR: z.string().optional(),
  OUTPUT_DIR: z.string().optional(),
  MODEL_DIR: z.string().optional(),
  CUSTOM_NODES_DIR: z.string().optional(),
  WARMUP_PROMPT_FILE: z.string().optional(),
  EXECUTION_PROVIDER: z.enum(['auto', 'cuda', 'cpu']).default('auto'),
  DEVICES: z
    .string()
    .regex(/^\d+(,\d+)*$/, 'must be device numbers separated by commas, e.g. 0,1')
    .default('0')
    .transform((text) => text.split(',').map(Number)),
  ENGINE_THREADS: integer(0, 1024).default(0),
  RESULT_CACHE_MB: number.default(512),
  MODEL_CACHE_GB: number.default(0),
  MAX_BATCH: integer(1, 1024).default(8),
})

/** What an engine process is told; crosses as JSON, because only this file reads the environment. */
export interface EngineConfig {
  readonly provider: 'auto' | 'cuda' | 'cpu'
  /** Number of the accelerator. */
  readonly device: number
  /** 0: as many as there are cores. */
  readonly threads: number
  readonly modelDir: string
  /** Where models that were fetched lie, a folder a kind as in `modelDir`. */
  readonly modelCacheDir: string
  readonly inputDir: string
  readonly outputDir: string
  readonly tempDir: string
  readonly customNodesDir: string | undefined
  readonly resultCacheBytes: number
  /** 0: no limit. */
  readonly modelCacheBytes: number
  readonly maxBatch: number
  readonly logLevel: z.infer<typeof environmentSchema>['LOG_LEVEL']
}

/** Reads the environment once, at start. A bad value throws one error that names every bad variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  const set = nonEmpty(environment)
  const of = readEnvironment(environmentSchema, set)
  const folder = (named: string | undefined, name: string) => resolve(named ?? join(of.COMFY_HOME, name))
  const modelDir = folder(of.MODEL_DIR, 'models')
  const cacheDir = resolve(of.CACHE_DIR ?? join(homedir(), '.cache', 'comfyui-api'))
  const engine: Omit<EngineConfig, 'device'> = {
    provider: of.EXECUTION_PROVIDER,
    threads: of.ENGINE_THREADS,
    modelDir,
    modelCacheDir: join(cacheDir, 'models'),
    inputDir: folder(of.INPUT_DIR, 'input'),
    outputDir: folder(of.OUTPUT_DIR, 'output'),
    tempDir: folder(undefined, 'temp'),
    customNodesDir: of.CUSTOM_NODES_DIR === undefined ? undefined : resolve(of.CUSTOM_NODES_DIR),
    resultCacheBytes: of.RESULT_CACHE_MB * 2 ** 20,
    modelCacheBytes: of.MODEL_CACHE_GB * 2 ** 30,
    maxBatch: of.MAX_BATCH,
    logLevel: of.LOG_LEVEL,
  }
  const instance = instanceFacts(set)
  return Object.freeze({
    host: of.HOST,
    port: of.PORT,
    logLevel: of.LOG_LEVEL,
    apiKey: of.API_KEY,
    maxBodyBytes: of.MAX_BODY_SIZE_MB * 2 ** 20,
    inputMaxBytes: of.INPUT_MAX_MB * 2 ** 20,
    /** Prompts pending and running; 0: no limit. */
    maxQueueDepth: of.MAX_QUEUE_DEPTH,
    maxConcurrentPrompts: of.MAX_CONCURRENT_PROMPTS,
    /** 0: none. */
    promptTimeoutMs: of.PROMPT_TIMEOUT_S * 1000,
    shutdownGraceMs: of.SHUTDOWN_GRACE_S * 1000,
    stallMs: of.HEALTH_STALL_S * 1000,
    uploadAttempts: of.UPLOAD_ATTEMPTS,
    uploadTimeoutMs: of.UPLOAD_TIMEOUT_S * 1000,
    s3: {
      region: of.AWS_REGION ?? of.AWS_DEFAULT_REGION,
      endpoint: of.AWS_ENDPOINT_URL,
      accessKeyId: of.AWS_ACCESS_KEY_ID,
      secretAccessKey: of.AWS_SECRET_ACCESS_KEY,
      sessionToken: of.AWS_SESSION_TOKEN,
    },
    s3AllowedBuckets: of.S3_ALLOWED_BUCKETS,
    azure: {
      connectionString: of.AZURE_STORAGE_CONNECTION_STRING,
      account: of.AZURE_STORAGE_ACCOUNT,
      key: of.AZURE_STORAGE_KEY,
      sasToken: of.AZURE_STORAGE_SAS_TOKEN,
    },
    storage: { url: of.STORAGE_URL, organization: of.STORAGE_ORGANIZATION, apiKey: of.STORAGE_API_KEY },
    hfToken: of.HF_TOKEN,
    metadataUri: of.INSTANCE_METADATA_URI,
    /** One header for requests to the hosts in the list, and to no other. */
    authHeader: {
      name: of.HTTP_AUTH_HEADER_NAME,
      value: of.HTTP_AUTH_HEADER_VALUE,
      hosts: of.HTTP_AUTH_HEADER_HOSTS,
    },
    webhooks: {
      secret: of.WEBHOOK_SECRET,
      attempts: of.PROMPT_WEBHOOK_RETRIES,
      timeoutMs: of.WEBHOOK_TIMEOUT_S * 1000,
      /** Waits before the first attempt, the second and so on; the last stands for all that follow. */
      scheduleMs: of.WEBHOOK_SCHEDULE_S.map((seconds) => seconds * 1000),
      maxBytes: of.WEBHOOK_MAX_MB * 2 ** 20,
    },
    /** What a platform says of the instance this is; empty outside of platforms. */
    instance,
    version: versionOf(application),
    /** Where clients reach this server; without one it can give them no links. */
    publicUrl: of.PUBLIC_URL,
    systemEvents: {
      url: of.SYSTEM_WEBHOOK_URL,
      events: of.SYSTEM_WEBHOOK_EVENTS,
      metadata: { ...instance, ...metadataOf(set) },
    },
    queue: {
      store: of.JOB_STORE,
      redisUrl: of.REDIS_URL,
      dataDir: folder(of.DATA_DIR, 'data'),
      /** How long a server may be silent before another takes over what it held. */
      takeoverMs: of.TAKEOVER_AFTER_S * 1000,
    },
    promptAttempts: of.PROMPT_ATTEMPTS,
    credentialsKey: of.CREDENTIALS_KEY,
    /** Empty: ids come in the body only. */
    jobIdHeader: of.JOB_ID_HEADER,
    /** The application's folder, below which others lie unless they are named. */
    comfyHome: resolve(of.COMFY_HOME),
    cacheDir,
    /** 0: no limit. */
    diskCacheBytes: of.LRU_CACHE_SIZE_GB * 2 ** 30,
    inputCacheBytes: of.INPUT_CACHE_MB * 2 ** 20,
    inputMaxPixels: of.INPUT_MAX_PIXELS,
    downloadMaxBytes: of.DOWNLOAD_MAX_GB * 2 ** 30,
    diskMinFreeBytes: of.DISK_MIN_FREE_MB * 2 ** 20,
    manifest: { file: of.MANIFEST, json: of.MANIFEST_JSON },
    /** Hosts, addresses and CIDR blocks that URLs of clients may lead to although they are not public. */
    outboundAllow: of.OUTBOUND_ALLOW,
    jobRetentionMs: of.JOB_RETENTION_S * 1000,
    jobRetentionBytes: of.JOB_RETENTION_MB * 2 ** 20,
    prependFilenames: of.PREPEND_FILENAMES,
    /** Where every job has a folder of its own. */
    spool: join(engine.outputDir, 'spool'),
    warmUp: warmUpOf(of.WARMUP_PROMPT_FILE, modelDir),
    engine,
    engines: of.DEVICES.map((device): EngineConfig => ({ ...engine, device })),
  })
}

/** A file that was named must exist; the default is used when it is there; `none` is for servers that are not to draw. */
function warmUpOf(named: string | undefined, modelDir: string) {
  if (named === 'none') return undefined
  return named === undefined
    ? { file: join(modelDir, 'warmup.json'), required: false }
    : { file: resolve(named), required: true }
}

/** The number of this program's version, which is not that of its interface. */
function versionOf(folder: string): string {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : 'unknown'
}

/** What `SYSTEM_META_<key>` says of this server, by key. */
const metadataOf = (set: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(set).flatMap(([name, value]) => {
      const [, key] = /^SYSTEM_META_(.+)$/.exec(name) ?? []
      return key === undefined || value === undefined ? [] : [[key, value] as const]
    }),
  )

export type Config = ReturnType<typeof readConfig>
