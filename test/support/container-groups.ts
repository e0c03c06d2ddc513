import { randomUUID } from 'node:crypto'
import { onTestFinished, vi } from 'vitest'
import { silentLog } from '../../src/common/log.ts'
import type { ContainerGroup } from '../../src/contracts/platform/container-group.ts'
import type { ContainerInstance } from '../../src/contracts/platform/container-instance.ts'
import type { Database } from '../../src/platform/base/database.ts'
import { createRateWindows } from '../../src/platform/base/rate-windows.ts'
import type { InstancesDeps } from '../../src/platform/instances/context.ts'
import { createInstances } from '../../src/platform/instances/create-instances.ts'
import { createProcessLauncher } from '../../src/platform/instances/process-launcher.ts'
import { defaultInstanceSettings, type InstanceSettings } from '../../src/platform/instances/settings.ts'
import { defaultGpuClasses } from '../../src/platform/management/gpu-catalogue.ts'
import { createGpuClassesRoutes } from '../../src/platform/management/gpu-classes-routes.ts'
import { createGroupRoutes } from '../../src/platform/management/group-routes.ts'
import { createInstanceRoutes } from '../../src/platform/management/instance-routes.ts'
import { createSystemLogsRoutes } from '../../src/platform/management/system-logs-routes.ts'
import { emptyFolder } from './folder.ts'
import { BASE_URL, serveManagement } from './management.ts'
import { addTenant } from './platform-database.ts'

/** An application: answers with its environment as JSON, and with 503 at /broken. */
export const application = [
  process.execPath,
  '-e',
  `const { createServer } = require('node:http')
  createServer(({ url }, response) => {
    if (url === '/broken') response.statusCode = 503
    response.end(JSON.stringify(process.env))
  }).listen(process.env.PORT)
  console.log('ready to serve')`,
]

/** A create body. */
export const groupBody = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name,
  autostart_policy: true,
  restart_policy: 'always',
  replicas: 1,
  container: containerOf(application),
  ...more,
})

export const containerOf = (command: readonly string[], more: Readonly<Record<string, unknown>> = {}) => ({
  image: 'registry.example.com/application:1',
  command,
  resources: { cpu: 1, memory: 1024 },
  ...more,
})

export const networking = { auth: false, protocol: 'http', port: 3000 }

/** Starts containers as processes that keep their files in `folder`; the image `demo:1` is the application. */
export const launcherIn = (folder: string) =>
  createProcessLauncher({
    folder,
    images: { 'demo:1': application },
    environment: { PATH: process.env.PATH ?? '' },
  })

export interface BenchOptions {
  readonly settings?: Partial<InstanceSettings>
  readonly deps?: Partial<InstancesDeps>
  readonly replicaQuota?: number
}

/** A platform with one organization, project and member, whose containers are processes; all of it ends with the test. */
export async function groupBench({ db }: Database, options: BenchOptions = {}) {
  const { organization, key, project } = await addTenant(db, `org-${randomUUID().slice(0, 8)}`)
  const folder = await emptyFolder()
  const open = async () => {
    const instances = createInstances({
      db,
      now: Date.now,
      log: silentLog,
      settings: { ...defaultInstanceSettings, tickMs: 50, graceMs: 2000, ...options.settings },
      launcher: launcherIn(folder),
      imdsFor: async ({ id }) => `http://127.0.0.1:9/${id}`,
      desiredReplicas: async ({ replicas }) => replicas,
      ...options.deps,
    })
    await instances.open()
    return instances
  }
  let instances = await open()
  onTestFinished(async () => {
    await instances.close()
    await db.deleteFrom('container_groups').execute()
  })
  const quotas = {
    replicaQuota: options.replicaQuota ?? 100,
    restartsPerMinute: 2,
    recreatesPerMinute: 2,
    reallocationsPerMinute: 2,
  }
  const through = { changed: (id: string) => instances.changed(id), actions: instances.actions }
  const gpuClasses = new Set(defaultGpuClasses.map(({ id }) => id))
  const ask = await serveManagement({
    db,
    routes: {
      organization: [createGpuClassesRoutes(defaultGpuClasses)],
      project: [
        createGroupRoutes({
          ...{ db, now: Date.now, instances: through, gpuClasses, quotas },
          gatewayDomain: 'localhost',
          baseUrl: BASE_URL,
        }),
        createSystemLogsRoutes(db, defaultGpuClasses),
        createInstanceRoutes({ db, instances: through, rateWindows: createRateWindows(db, Date.now), quotas }),
      ],
    },
  })
  const send = (line: string, body?: unknown): Promise<Response> => {
    const [method, path = ''] = line.split(' ')
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    return ask(`${method} /organizations/${organization.name}/projects/demo/containers${path}`, {
      headers: { 'service-api-key': key, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
  const group = async (name: string): Promise<ContainerGroup> =>
    (await (await send(`GET /${name}`)).json()) as ContainerGroup
  const list = async (name: string): Promise<readonly ContainerInstance[]> =>
    ((await (await send(`GET /${name}/instances`)).json()) as { instances: ContainerInstance[] }).instances
  return {
    ...{ send, group, list, organization, project },
    /** As it is now: see `reopen`. */
    instances: () => instances,
    /** Another process of the platform on the same records and folder, whatever became of the one before. */
    async reopen() {
      instances = await open()
    },
    /** Creates a group and waits until it is as its owner wants it. */
    async settled(body: ReturnType<typeof groupBody>): Promise<ContainerGroup> {
      const response = await send('POST ', body)
      if (response.status !== 201) throw new Error(await response.text())
      return soon(async () => {
        const found = await group(body.name)
        if (found.pending_change) throw new Error(`it is still ${JSON.stringify(found.current_state)}`)
        return found
      })
    },
    /** What the group's events say, oldest first. */
    async events(): Promise<readonly string[]> {
      const rows = await db
        .selectFrom('log_entries')
        .select('text_log')
        .where('organization_id', '=', organization.id)
        .where('resource_type', '!=', 'container')
        .orderBy('id')
        .execute()
      return rows.flatMap(({ text_log }) => text_log ?? [])
    },
  }
}

/** Waits until `look` resolves: machines that run tests are busy. */
export const soon = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 15_000, interval: 25 })
