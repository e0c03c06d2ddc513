import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { silentLog as log } from '../../../src/common/log.ts'
import type { Database } from '../../../src/platform/base/database.ts'
import { listen } from '../../../src/platform/base/listen.ts'
import { createMembers, type Members } from '../../../src/platform/base/members.ts'
import { problemOf } from '../../../src/platform/base/problem.ts'
import { createOwnRateWindows } from '../../../src/platform/base/rate-windows.ts'
import type { ProblemShape } from '../../../src/platform/base/refuse-malformed.ts'
import { rememberMembers } from '../../../src/platform/base/remember-members.ts'
import { createGateway } from '../../../src/platform/gateway/gateway.ts'
import { createImdsApp } from '../../../src/platform/imds/app.ts'
import { createIdentityTokens } from '../../../src/platform/imds/identity-tokens.ts'
import { imdsProblem } from '../../../src/platform/imds/imds-problem.ts'
import { weekly } from '../../../src/platform/imds/key-schedule.ts'
import { createKeySetRoutes } from '../../../src/platform/imds/key-set-routes.ts'
import { createSigningKeys } from '../../../src/platform/imds/signing-keys.ts'
import { createInstances, type Instances } from '../../../src/platform/instances/create-instances.ts'
import { createNodes } from '../../../src/platform/instances/nodes.ts'
import { defaultInstanceSettings } from '../../../src/platform/instances/settings.ts'
import { createManagementApp, type ManagementRoutes } from '../../../src/platform/management/app.ts'
import { createAvailabilityRoutes } from '../../../src/platform/management/availability-routes.ts'
import { defaultGpuClasses } from '../../../src/platform/management/gpu-catalogue.ts'
import { createGpuClassesRoutes } from '../../../src/platform/management/gpu-classes-routes.ts'
import { createGroupRoutes } from '../../../src/platform/management/group-routes.ts'
import { createInferenceRoutes } from '../../../src/platform/management/inference-routes.ts'
import { createInstanceRoutes } from '../../../src/platform/management/instance-routes.ts'
import { createLogEntriesRoutes } from '../../../src/platform/management/log-entries-routes.ts'
import { createQueueRoutes } from '../../../src/platform/management/queue-routes.ts'
import { createQuotasRoutes } from '../../../src/platform/management/quotas-routes.ts'
import { createSystemLogsRoutes } from '../../../src/platform/management/system-logs-routes.ts'
import { createWebhookSecretRoutes } from '../../../src/platform/management/webhook-secret-routes.ts'
import { builtInEndpoints } from '../../../src/platform/queues/built-in-endpoints.ts'
import { createQueues } from '../../../src/platform/queues/create-queues.ts'
import { createStorageApp } from '../../../src/platform/storage/app.ts'
import { createDiskBlobs } from '../../../src/platform/storage/disk-blobs.ts'
import { storageDefaults } from '../../../src/platform/storage/settings.ts'
import { connectedGroups, groupAt, keyOpens } from '../../../src/platform/wiring/groups.ts'
import { createMetadataServices } from '../../../src/platform/wiring/metadata-services.ts'
import { BASE_URL } from '../../support/management.ts'
import { settings as queueSettings } from '../queues/bench.ts'
import { createStandIn } from './launcher.ts'

/** Under which the storage API names files and problems. */
export const STORAGE_URL = 'https://storage.example.com'

/** Far from what any test makes. */
const PLENTY = 1_000_000
const quotas = {
  replicaQuota: PLENTY,
  restartsPerMinute: PLENTY,
  recreatesPerMinute: PLENTY,
  reallocationsPerMinute: PLENTY,
}
const nothingAllowed = { replicaQuota: 0, restartsPerMinute: 0, recreatesPerMinute: 0, reallocationsPerMinute: 0 }

/** An endpoint that anybody may use, and one that is offered to nobody here. */
const [transcribe] = builtInEndpoints()
const endpoint = (name: string, organizations?: readonly string[]) => ({
  ...transcribe!, // there are two
  ...{ id: randomUUID(), name, organizations },
  input_schema:
    '{"type":"object","properties":{"size":{"type":"integer","minimum":1,"maximum":9}},"required":["size"]}',
})

const problemsUnder =
  (url: string): ProblemShape =>
  (error, id) =>
    problemOf(error, url, id)

const away = () => Promise.reject(new Error('the password is 1234'))
const awayMembers: Members = { userOf: away, organization: away, isMember: away, project: away }

/** Everything that answers, wired as the program does it, in one process; what runs in containers is one small server. */
export async function openPlatform({ db, pool }: Database, folder: string, now: () => number) {
  const ends: (() => Promise<unknown>)[] = []
  const serve = async (app: RequestListener, shape = problemsUnder(BASE_URL)): Promise<string> => {
    const listening = await listen('127.0.0.1', 0)
    ends.unshift(() => listening.close(0))
    listening.refuseAs(shape)
    listening.answer(app)
    return `http://127.0.0.1:${listening.port}`
  }

  let held = 0
  const application = createServer((request, response) => {
    if (request.url === '/silent') held++
    else request.resume().once('end', () => response.end('done'))
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  ends.push(async () => void application.close().closeAllConnections())

  const members = rememberMembers(createMembers(db))
  const rateWindows = createOwnRateWindows(now)
  const keys = createSigningKeys({ db, now: Date.now, schedule: weekly })
  const tokens = createIdentityTokens({ keys, now: Date.now, issuer: BASE_URL, lifetimeSeconds: 300 })
  const settings = {
    ...queueSettings,
    ...{
      leaseMs: 60_000,
      renewMs: 20_000,
      lookMs: 5000,
      retentionMs: 3_600_000,
      endpoints: [endpoint('sized'), endpoint('private', ['nobody'])],
    },
  }
  const queues = createQueues({ db, pool, redisUrl: undefined, now, log, settings })
  await queues.open()
  ends.unshift(() => queues.close())
  const metadata = createMetadataServices({
    ...{ tokens, baseUrl: BASE_URL, now: Date.now, log, cacheSeconds: 180 },
    host: { address: '127.0.0.1', name: '127.0.0.1' },
    instanceAt: () => undefined,
  })
  const metadataAt = new Map<string, string>()
  const instances: Instances = createInstances({
    ...{ db, now: Date.now, log },
    settings: { ...defaultInstanceSettings, tickMs: 2000, graceMs: 100 },
    launcher: createStandIn(() => (application.address() as AddressInfo).port),
    async imdsFor(place) {
      const address = await metadata.start(place, instances.imdsInstance(place.id))
      metadataAt.set(place.id, address)
      return address
    },
    imdsGone: metadata.stop,
    desiredReplicas: async ({ replicas }) => replicas,
  })
  await instances.open()
  ends.unshift(async () => {
    await instances.close()
    await metadata.close()
  })

  const gpuClasses = new Set(defaultGpuClasses.map(({ id }) => id))
  const routesWith = (limits: typeof quotas): ManagementRoutes => ({
    open: [createKeySetRoutes(keys)],
    organization: [
      createGpuClassesRoutes(defaultGpuClasses),
      createQuotasRoutes(db, limits),
      createWebhookSecretRoutes(db),
      createInferenceRoutes({ queues, baseUrl: BASE_URL }),
      createLogEntriesRoutes(db),
      createAvailabilityRoutes({ db, now: Date.now, nodes: createNodes(defaultInstanceSettings.nodes), gpuClasses }),
    ],
    project: [
      createQueueRoutes({ queues, baseUrl: BASE_URL, connectedGroups: (id) => connectedGroups(db, id) }),
      createGroupRoutes({
        ...{ db, now: Date.now, instances, baseUrl: BASE_URL, quotas: limits, gatewayDomain: 'localhost' },
        gpuClasses,
      }),
      createInstanceRoutes({ db, instances, rateWindows, quotas: limits }),
      createSystemLogsRoutes(db, defaultGpuClasses),
    ],
  })
  const routes = routesWith(quotas)
  const managementWith = (own: { routes?: ManagementRoutes; members?: Members; requestsPerMinute?: number }) =>
    createManagementApp({
      ...{ log, routes, members, rateWindows: createOwnRateWindows(() => 0), ...own },
      settings: { baseUrl: BASE_URL, requestsPerMinute: own.requestsPerMinute ?? 0 },
    })
  const storageWith = (who: Members) =>
    createStorageApp({
      ...{ db, now, log, members: who, publicUrl: STORAGE_URL, verifyToken: tokens.verify },
      ...{ blobs: createDiskBlobs(folder), settings: storageDefaults },
    })
  const imdsOf = (instance: ReturnType<Instances['imdsInstance']>) =>
    createImdsApp({ instance, tokens, cacheSeconds: 180, baseUrl: BASE_URL, now: Date.now, log })
  const storage = storageWith(members)
  const nobody = instances.imdsInstance(randomUUID())
  const lost = { view: away, setDeletionCost: away, recreate: away, restart: away, reallocate: away }
  const gateway = createGateway({
    ...{ baseUrl: BASE_URL, log },
    findGroup: (host) => groupAt(db, host),
    isMember: (key, organizationId) => keyOpens(members, key, organizationId),
    targetsOf: (id) => instances.targetsOf(id).map(({ instanceId, port }) => ({ id: instanceId, port })),
  })
  const gatewayPort = await gateway.listen(0, '127.0.0.1')
  ends.unshift(() => gateway.close())

  return {
    ...{ tokens, instances, metadataAt },
    /** How many requests have come to containers that will never be answered. */
    held: () => held,
    /** Where each server is. */
    origins: {
      management: {
        usual: await serve(managementWith({})),
        limited: await serve(managementWith({ requestsPerMinute: 1 })),
        strict: await serve(managementWith({ routes: routesWith(nothingAllowed) })),
        away: await serve(managementWith({ members: awayMembers })),
      },
      storage: { usual: await serve(storage, problemsUnder(STORAGE_URL)), away: await serve(storageWith(awayMembers)) },
      imds: {
        gone: await serve(imdsOf(nobody), imdsProblem(BASE_URL)),
        away: await serve(imdsOf(lost)),
        shared: await serve(metadata.answerAll),
      },
      gateway: { usual: `http://127.0.0.1:${gatewayPort}` },
    } satisfies Readonly<Record<string, Readonly<Record<string, string>>>>,
    /** What the apps answer, to be held against the table. */
    apps: { management: routes, storage, imds: imdsOf(nobody) },
    async close(): Promise<void> {
      for (const end of ends) await end()
    },
  }
}

export type Platform = Awaited<ReturnType<typeof openPlatform>>
