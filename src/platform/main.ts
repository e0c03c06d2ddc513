import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLog } from '../common/log.ts'
import { removeAddressBook, writeAddressBook } from './base/address-book.ts'
import { openDatabase } from './base/database.ts'
import { messageOf } from './base/errors.ts'
import { listen } from './base/listen.ts'
import { createRateWindows } from './base/rate-windows.ts'
import { type Config, readConfig } from './config.ts'
import { createGateway } from './gateway/gateway.ts'
import { createIdentityTokens } from './imds/identity-tokens.ts'
import { weekly } from './imds/key-schedule.ts'
import { createKeySetRoutes } from './imds/key-set-routes.ts'
import { createSigningKeys } from './imds/signing-keys.ts'
import { createInstances, type Instances } from './instances/create-instances.ts'
import { createProcessLauncher } from './instances/process-launcher.ts'
import { defaultInstanceSettings } from './instances/settings.ts'
import { createManagementApp } from './management/app.ts'
import { admit, keyFileIn } from './management/first-tenant.ts'
import { defaultGpuClasses, readGpuClasses } from './management/gpu-catalogue.ts'
import { createGpuClassesRoutes } from './management/gpu-classes-routes.ts'
import { createGroupRoutes } from './management/group-routes.ts'
import { createInferenceRoutes } from './management/inference-routes.ts'
import { createInstanceRoutes } from './management/instance-routes.ts'
import { createQueueRoutes } from './management/queue-routes.ts'
import { createQuotasRoutes } from './management/quotas-routes.ts'
import { readSeed } from './management/seed.ts'
import { createWebhookSecretRoutes } from './management/webhook-secret-routes.ts'
import { createQueues, type QueueSettings } from './queues/create-queues.ts'
import { desiredReplicas } from './queues/desired-replicas.ts'
import { createWebhookDelivery } from './webhooks/delivery.ts'
import { connectedGroups, groupAt, keyOpens } from './wiring/groups.ts'
import { createMetadataServices } from './wiring/metadata-services.ts'
import { createQueueWorkers } from './wiring/queue-workers.ts'
import { openStorage } from './wiring/storage.ts'

/** How long idle connections may keep a server open that has nothing left to do. */
const CLOSE_MS = 1000

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Opens the records, then the doors, and says where they are. */
async function main(config: Config): Promise<void> {
  const { dataDir } = config
  const log = createLog(config.logLevel)
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  const now = Date.now

  const seed = config.seedFile === undefined ? undefined : await readSeed(config.seedFile)
  const gpuClasses =
    config.gpuClassesFile === undefined ? defaultGpuClasses : await readGpuClasses(config.gpuClassesFile)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { db, pool, close } = await openDatabase(
    config.databaseUrl === undefined
      ? { folder: dataDir, entry: databaseEntry, holder: thisProcess, now }
      : { url: config.databaseUrl },
  )
  await removeAddressBook(dataDir) // of a start that did not end well
  const { organization, project, key, isNew } = await admit(db, seed, dataDir, now)

  const management = await listen(config.host, config.management.port)
  const baseUrl = config.management.baseUrl ?? addressOf(config.host, management.port)
  const keys = createSigningKeys({ db, now, schedule: weekly })
  const tokens = createIdentityTokens({
    ...{ keys, now, issuer: config.imds.issuer ?? baseUrl },
    lifetimeSeconds: config.imds.tokenSeconds,
  })
  const webhooks = createWebhookDelivery({ db, now, log, settings: config.webhooks })
  const queues = createQueues({
    ...{ db, pool, now, log, redisUrl: config.redisUrl },
    settings: queueSettings(config),
    onWebhooks: webhooks.wake,
  })
  const metadata = createMetadataServices({ tokens, baseUrl, now, log, cacheSeconds: config.imds.cacheSeconds })
  const instances: Instances = createInstances({
    ...{ db, now, log },
    settings: { ...defaultInstanceSettings, ...config.instances },
    launcher: createProcessLauncher({
      folder: join(dataDir, 'nodes'),
      images,
      environment: config.containerEnvironment,
    }),
    imdsFor: ({ id }) => metadata.start(id, instances.imdsInstance(id)),
    imdsGone: ({ id }) => metadata.stop(id),
    desiredReplicas: async ({ queueId, autoscaler, ...state }) =>
      desiredReplicas(autoscaler, { ...state, queueLength: await queues.jobs.lengthOf(queueId) }),
  })
  const workers = createQueueWorkers(db, { queues, instances, log })
  management.answer(
    createManagementApp({
      ...{ db, now, log },
      settings: { ...config.management, baseUrl },
      routes: {
        open: [createKeySetRoutes(keys)],
        organization: [
          createGpuClassesRoutes(gpuClasses),
          createQuotasRoutes(db, config.quotas),
          createWebhookSecretRoutes(db),
          createInferenceRoutes({ queues, baseUrl }),
        ],
        project: [
          createQueueRoutes({ queues, baseUrl, connectedGroups: (id) => connectedGroups(db, id) }),
          createGroupRoutes({
            ...{ db, now, instances, baseUrl, quotas: config.quotas, gatewayDomain: config.gateway.domain },
            gpuClasses: new Set(gpuClasses.map(({ id }) => id)),
          }),
          createInstanceRoutes({ db, instances, rateWindows: createRateWindows(db, now), quotas: config.quotas }),
        ],
      },
    }),
  )
  const storage = await openStorage(config, { db, now, log, verifyToken: tokens.verify }, ({ port }) =>
    addressOf(config.host, port),
  )
  const gateway = createGateway({
    ...{ baseUrl, log },
    findGroup: (host) => groupAt(db, host),
    isMember: (key, organizationId) => keyOpens(db, key, organizationId),
    targetsOf: (id) => instances.targetsOf(id).map(({ instanceId, port }) => ({ id: instanceId, port })),
  })
  const gatewayPort = await gateway.listen(config.gateway.port, config.host)
  await queues.open()
  await instances.open()
  workers.open()
  webhooks.open()

  let ending = false
  const stop = async () => {
    await removeAddressBook(dataDir)
    await Promise.all([management.close(CLOSE_MS), storage.close(CLOSE_MS), gateway.close()])
    await workers.close()
    await instances.close()
    await Promise.all([queues.close(), webhooks.close(), metadata.close()])
    await close()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (ending) process.exit(1) // asked twice, so at once
      ending = true
      void stop()
    })

  const jwks = `${baseUrl}/.well-known/workload-jwks.json`
  const gatewayUrl = addressOf(config.gateway.domain, gatewayPort)
  const addresses = { management: baseUrl, storage: storage.url, gateway: gatewayUrl, jwks }
  await writeAddressBook(dataDir, { ...addresses, organization, project, api_key: key })
  say(`management API: ${baseUrl}/api/public`)
  say(`storage API: ${storage.url}`)
  say(`gateway: ${gatewayUrl}, by the host name of each container group`)
  say(`organization ${organization}${project === undefined ? '' : `, project ${project}`}`)
  if (isNew) say(`API key, shown this once: ${key}`)
  const header = key === undefined ? '<API key>' : `$(cat '${keyFileIn(dataDir)}')`
  say(`try: curl -H "Service-Api-Key: ${header}" ${baseUrl}/api/public/organizations/${organization}/gpu-classes`)
}

/** Times of the hand-out of jobs (platform reference, section 27), in milliseconds. */
const queueSettings = ({ jobs, redisUrl }: Config): QueueSettings => ({
  ...jobs,
  ...{ endpoints: [], processors: {}, lookMs: redisUrl === undefined ? 5000 : 1000 },
})

/** How `host` and `port` stand in a URL that can be opened. */
function addressOf(host: string, port: number): string {
  const everywhere = host === '::' || host === '0.0.0.0'
  return `http://${everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

// The reference workload, for groups that name it and no command.
const workload = new URL(`../workload/main${extname(import.meta.filename)}`, import.meta.url)
const images = { 'reference-workload': [process.execPath, fileURLToPath(workload)] }

const thisProcess = { pid: process.pid, host: hostname(), started: performance.timeOrigin }

// As .ts from source and as .js from dist.
const databaseEntry = new URL(`../common/postgres/database-thread${extname(import.meta.filename)}`, import.meta.url)

try {
  await main(readConfig())
} catch (error) {
  process.stderr.write(`the platform cannot start: ${messageOf(error)}\n`)
  process.exit(1)
}
