import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLog } from '../common/log.ts'
import { removeAddressBook, writeAddressBook } from './base/address-book.ts'
import { openDatabase } from './base/database.ts'
import { messageOf } from './base/errors.ts'
import { createPostgresKeeper, onlyKeeper } from './base/keeper.ts'
import { listen } from './base/listen.ts'
import { keepLogsShort } from './base/log-retention.ts'
import { createMembers } from './base/members.ts'
import { problemOf } from './base/problem.ts'
import { createOwnRateWindows, createRateWindows } from './base/rate-windows.ts'
import { rememberMembers } from './base/remember-members.ts'
import { type Config, readConfig } from './config.ts'
import { createGateway } from './gateway/gateway.ts'
import { createIdentityTokens } from './imds/identity-tokens.ts'
import { imdsProblem } from './imds/imds-problem.ts'
import { weekly } from './imds/key-schedule.ts'
import { createKeySetRoutes } from './imds/key-set-routes.ts'
import { createSigningKeys } from './imds/signing-keys.ts'
import { createInstances, type Instances } from './instances/create-instances.ts'
import { createNodes } from './instances/nodes.ts'
import { defaultInstanceSettings } from './instances/settings.ts'
import { createAdmin } from './management/admin.ts'
import { adminSocketIn, openAdminSocket } from './management/admin-socket.ts'
import { createManagementApp } from './management/app.ts'
import { createAvailabilityRoutes } from './management/availability-routes.ts'
import { admit, keyFileIn } from './management/first-tenant.ts'
import { defaultGpuClasses, readGpuClasses } from './management/gpu-catalogue.ts'
import { createGpuClassesRoutes } from './management/gpu-classes-routes.ts'
import { createGroupRoutes } from './management/group-routes.ts'
import { createInferenceRoutes } from './management/inference-routes.ts'
import { createInstanceRoutes } from './management/instance-routes.ts'
import { createLogEntriesRoutes } from './management/log-entries-routes.ts'
import { createQueueRoutes } from './management/queue-routes.ts'
import { createQuotasRoutes } from './management/quotas-routes.ts'
import { readSeed } from './management/seed.ts'
import { createSystemLogsRoutes } from './management/system-logs-routes.ts'
import { createWebhookSecretRoutes } from './management/webhook-secret-routes.ts'
import { createQueues, type QueueSettings } from './queues/create-queues.ts'
import { desiredReplicas } from './queues/desired-replicas.ts'
import { readEndpoints } from './queues/endpoints-file.ts'
import { createWebhookDelivery } from './webhooks/delivery.ts'
import { createFirstGroups, ownerNamed, readFirstGroups } from './wiring/first-groups.ts'
import { connectedGroups, groupAt, keyOpens } from './wiring/groups.ts'
import { createKeeping } from './wiring/keeping.ts'
import { openContainers, withMetadata } from './wiring/launchers.ts'
import { createMetadataServices } from './wiring/metadata-services.ts'
import { createOwnWorkload } from './wiring/own-workload.ts'
import { createQueueWorkers, workerProcesses, workersHere } from './wiring/queue-workers.ts'
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
  const gpuClassIds = new Set(gpuClasses.map(({ id }) => id))
  const firstGroups = await readFirstGroups(config, gpuClassIds)
  const containers = await openContainers(config, images, { now, log })
  const endpoints = config.endpointsFile === undefined ? [] : await readEndpoints(config.endpointsFile)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { db, pool, close } = await openDatabase({
    ...{ folder: dataDir, holder: thisProcess, now },
    ...(config.databaseUrl === undefined ? { entry: databaseEntry } : { url: config.databaseUrl, log }),
  })
  await removeAddressBook(dataDir) // of a start that did not end well
  const { organization, project, key, isNew } = await admit(db, seed, dataDir, now)

  // Nobody else writes to an embedded database, so what it says can be kept, and counts need no other process.
  const isAlone = config.databaseUrl === undefined
  const remembered = isAlone ? rememberMembers(createMembers(db)) : undefined
  const members = remembered ?? createMembers(db)
  const rateWindows = isAlone ? createOwnRateWindows(now) : createRateWindows(db, now)
  const management = await listen(config.host, config.management.port)
  const baseUrl = config.management.baseUrl ?? addressOf(config.host, management.port)
  const keys = createSigningKeys({ db, now, schedule: weekly })
  const tokens = createIdentityTokens({
    ...{ keys, now, issuer: config.imds.issuer ?? baseUrl },
    lifetimeSeconds: config.imds.tokenSeconds,
  })
  const webhooks = createWebhookDelivery({
    ...{ db, now, log, isAlone },
    settings: { ...config.webhooks, ...(!isAlone && { pollMs: 1000 }) }, // workers of instances store some of them
  })
  const storage = await openStorage(config, { db, members, now, log, verifyToken: tokens.verify }, ({ port }) =>
    addressOf(config.host, port),
  )
  const endpointWorkload = createOwnWorkload({
    ...{ log, command: images['reference-workload'], folder: join(dataDir, 'endpoint-workload') },
    environment: config.endpointWorkload.environment,
    allowedHosts: [hostOf(storage.url), ...(config.endpointWorkload.outboundAllow?.split(',') ?? [])],
  })
  const queues = createQueues({
    ...{ db, pool, isAlone, now, log, redisUrl: config.redisUrl },
    settings: queueSettings(config, endpoints),
    onWebhooks: webhooks.wake,
    useWorkload: endpointWorkload.use,
    storeOutput: storage.storeOutput,
  })
  const imds = await listen(config.host, config.imds.port)
  const metadata = createMetadataServices({
    ...{ tokens, baseUrl, now, log, cacheSeconds: config.imds.cacheSeconds, host: containers.metadata },
    instanceAt: (address) => instances.instanceAt(address),
  })
  imds.answer(metadata.answerAll)
  imds.refuseAs(imdsProblem(baseUrl))
  const launcher = withMetadata(containers.launcher, metadata)
  const settings = { ...defaultInstanceSettings, ...config.instances }
  const keeper = config.databaseUrl === undefined ? onlyKeeper : createPostgresKeeper({ url: config.databaseUrl, log })
  const instances: Instances = createKeeping({
    ...{ db, now, log, settings, keeper },
    begin: () => ({
      instances: createInstances({
        ...{ db, now, log, settings, launcher, isKeeper: keeper.isKeeper },
        imdsFor: (place) => metadata.start(place, instances.imdsInstance(place.id)),
        imdsGone: metadata.stop,
        desiredReplicas: async ({ queueId, autoscaler, ...state }) =>
          desiredReplicas(autoscaler, { ...state, queueLength: await queues.jobs.lengthOf(queueId) }),
      }),
      workers: createQueueWorkers({
        ...{ db, log, graceMs: settings.graceMs },
        startWorker: isAlone
          ? workersHere(queues, instances)
          : workerProcesses({ command: worker, environment: config.workerEnvironment, log }, metadata.urlOf),
      }),
    }),
  })
  const groupServices = {
    ...{ db, now, instances, baseUrl, gpuClasses: gpuClassIds },
    ...{ quotas: config.quotas, gatewayDomain: config.gateway.domain },
  }
  management.refuseAs((error, id) => problemOf(error, baseUrl, id))
  management.answer(
    createManagementApp({
      ...{ members, rateWindows, log },
      settings: { ...config.management, baseUrl },
      routes: {
        open: [createKeySetRoutes(keys)],
        organization: [
          createGpuClassesRoutes(gpuClasses),
          createQuotasRoutes(db, config.quotas),
          createWebhookSecretRoutes(db),
          createInferenceRoutes({ queues, baseUrl }),
          createLogEntriesRoutes(db),
          createAvailabilityRoutes({ db, now, nodes: createNodes(settings.nodes), gpuClasses: gpuClassIds }),
        ],
        project: [
          createQueueRoutes({ queues, baseUrl, connectedGroups: (id) => connectedGroups(db, id) }),
          createGroupRoutes(groupServices),
          createInstanceRoutes({ db, instances, rateWindows, quotas: config.quotas }),
          createSystemLogsRoutes(db, gpuClasses),
        ],
      },
    }),
  )
  const gateway = createGateway({
    ...{ baseUrl, log },
    findGroup: (host) => groupAt(db, host),
    isMember: (key, organizationId) => keyOpens(members, key, organizationId),
    targetsOf: (id) => instances.targetsOf(id).map(({ instanceId, port }) => ({ id: instanceId, port })),
  })
  const gatewayPort = await gateway.listen(config.gateway.port, config.host)
  await endpointWorkload.open()
  await queues.open()
  if (firstGroups) {
    const owner = await ownerNamed(db, organization, project)
    await createFirstGroups(firstGroups, { ...groupServices, queues: queues.queues, owner, log })
  }
  await launcher.sweep() // also where another platform keeps the instances
  await instances.open()
  webhooks.open()

  const admin = createAdmin({ db, now, seedFile: config.seedFile, onChange: remembered?.forget })
  const adminSocket = await openAdminSocket({ file: adminSocketIn(dataDir), admin, log })
  const logRetention = keepLogsShort({ db, now, log, retentionMs: config.logRetentionMs })

  let ending = false
  const stop = async () => {
    await removeAddressBook(dataDir)
    logRetention.close()
    await adminSocket.close()
    await Promise.all([management.close(CLOSE_MS), storage.close(CLOSE_MS), gateway.close()])
    await instances.close()
    // The loops are stopped first: attempts that are cut count, and are not made again here.
    await Promise.all([queues.close(), endpointWorkload.close(), webhooks.close(), metadata.close(), imds.close(0)])
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
  const imdsUrl = addressOf(config.host, imds.port)
  const addresses = { management: baseUrl, storage: storage.url, imds: imdsUrl, gateway: gatewayUrl, jwks }
  await writeAddressBook(dataDir, { ...addresses, organization, project: project ?? null, api_key: key ?? null })
  say(`management API: ${baseUrl}/api/public`)
  say(`storage API: ${storage.url}`)
  say(`metadata service: ${imdsUrl}, for containers; they run as ${containers.kind}`)
  say(`gateway: ${gatewayUrl}, by the host name of each container group`)
  say(`organization ${organization}${project === undefined ? '' : `, project ${project}`}`)
  if (firstGroups)
    say(`container groups of ${firstGroups.file}: ${firstGroups.groups.map(({ name }) => name).join(', ')}`)
  if (isNew) say(`API key, shown this once: ${key}`)
  const header = key === undefined ? '<API key>' : `$(cat '${keyFileIn(dataDir)}')`
  say(`try: curl -H "Service-Api-Key: ${header}" ${baseUrl}/api/public/organizations/${organization}/gpu-classes`)
}

/** Times of the hand-out of jobs (platform reference, section 27), in milliseconds. */
const queueSettings = ({ jobs, redisUrl }: Config, endpoints: QueueSettings['endpoints']): QueueSettings => ({
  ...jobs,
  ...{ endpoints, lookMs: redisUrl === undefined ? 5000 : 1000 },
})

/** The host of a URL: of an address in brackets, the address. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

/** How `host` and `port` stand in a URL that can be opened. */
function addressOf(host: string, port: number): string {
  const everywhere = host === '::' || host === '0.0.0.0'
  return `http://${everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A program of this build: as .ts from source and as .js from dist. */
const program = (path: string): readonly string[] => [
  process.execPath,
  fileURLToPath(new URL(`${path}${extname(import.meta.filename)}`, import.meta.url)),
]

// The reference workload, for groups that name it and no command.
const workload = program('../workload/main')
const images = { 'reference-workload': workload, easel: workload }
const worker = program('./worker-main')

const thisProcess = { pid: process.pid, host: hostname(), started: performance.timeOrigin }

// As .ts from source and as .js from dist.
const databaseEntry = new URL(`../common/postgres/database-thread${extname(import.meta.filename)}`, import.meta.url)

try {
  await main(readConfig())
} catch (error) {
  process.stderr.write(`the platform cannot start: ${messageOf(error)}\n`)
  process.exit(1)
}
