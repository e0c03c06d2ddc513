import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { silentLog } from '../../../src/common/log.ts'
import { queueSchema } from '../../../src/contracts/platform/queue.ts'
import { type QueueJob, queueJobSchema } from '../../../src/contracts/platform/queue-job.ts'
import type { Database } from '../../../src/platform/base/database.ts'
import { createInferenceRoutes } from '../../../src/platform/management/inference-routes.ts'
import { createQueueRoutes } from '../../../src/platform/management/queue-routes.ts'
import { builtInEndpoints } from '../../../src/platform/queues/built-in-endpoints.ts'
import type { ProcessorPorts } from '../../../src/platform/queues/call-processor.ts'
import { createQueues, type QueueSettings } from '../../../src/platform/queues/create-queues.ts'
import type { EndpointSetting } from '../../../src/platform/queues/endpoint-setting.ts'
import { BASE_URL, serveManagement } from '../../support/management.ts'
import { addTenant } from '../../support/platform-database.ts'

/** Short enough for tests, long beside what a busy machine takes to answer. */
export const settings: QueueSettings = {
  endpoints: [],
  attempts: 4,
  leaseMs: 2000,
  renewMs: 300,
  retentionMs: 60_000,
  readinessMs: 100,
  lookMs: 200,
}

export interface PlatformOptions extends ProcessorPorts {
  readonly redisUrl?: string | undefined
  readonly settings?: Partial<QueueSettings>
  readonly now?: () => number
  readonly connectedGroups?: (queueId: string) => Promise<readonly unknown[]>
}

/** The management API over real queues, for an organization of its own, until the test ends. */
export async function platform({ db, pool }: Database, options: PlatformOptions = {}) {
  const { redisUrl, useWorkload, storeOutput, now = Date.now, connectedGroups = async () => [] } = options
  const tenant = await addTenant(db, `org-${randomUUID().slice(0, 8)}`)
  /** Another process of the platform. */
  const start = async (more: Partial<QueueSettings> = {}, isAlone = false) => {
    const merged = { ...settings, ...options.settings, ...more }
    const queues = createQueues({
      ...{ db, pool, redisUrl, isAlone, now, useWorkload, storeOutput },
      ...{ log: silentLog, settings: merged },
    })
    await queues.open()
    onTestFinished(() => queues.close())
    return queues
  }
  const queues = await start()
  const routes = {
    organization: [createInferenceRoutes({ queues, baseUrl: BASE_URL })],
    project: [createQueueRoutes({ queues, baseUrl: BASE_URL, connectedGroups })],
  }
  const ask = await serveManagement({ db, routes, now })
  const send = (line: string, body?: unknown, type = 'application/json') => {
    const [method, path] = line.split(' ')
    const headers = { 'service-api-key': tenant.key, ...(body !== undefined && { 'content-type': type }) }
    const content = typeof body === 'string' ? body : JSON.stringify(body)
    return ask(`${method} /organizations/${tenant.organization.name}${path}`, {
      headers,
      ...(body !== undefined && { body: content }),
    })
  }
  return { tenant, queues, send, start }
}

export type Platform = Awaited<ReturnType<typeof platform>>

/** The body of an answer, which must be as `schema` says. */
export const bodyIn = async <T>(schema: z.ZodType<T>, response: Response): Promise<T> =>
  schema.parse(await response.json())

/** A queue with a name of its own, and what tests do with it. */
export async function queueOf({ send }: Platform, name = 'images') {
  const { id } = await bodyIn(queueSchema, await send('POST /projects/demo/queues', { name }))
  const path = `/projects/demo/queues/${name}/jobs`
  const read = async (job: string) => bodyIn(queueJobSchema, await send(`GET ${path}/${job}`))
  return {
    id,
    path,
    read,
    async submit(input: unknown, more: object = {}): Promise<QueueJob> {
      return bodyIn(queueJobSchema, await send(`POST ${path}`, { input, ...more }))
    },
    /** The latest hundred. */
    async list(): Promise<readonly QueueJob[]> {
      const { items } = await bodyIn(z.object({ items: z.array(queueJobSchema) }), await send(`GET ${path}`))
      return items
    },
    /** Resolves when the job has a status that it keeps. */
    ended: (job: string) =>
      vi.waitFor(
        async () => {
          const record = await read(job)
          if (record.status === 'pending' || record.status === 'running') throw new Error(`it is ${record.status}`)
          return record
        },
        { timeout: 15_000, interval: 20 },
      ),
  }
}

/** A built-in endpoint with a processor of its own. */
export function builtInOver(name: string, url: string, concurrency = 4): EndpointSetting {
  const builtIn = builtInEndpoints().find((endpoint) => endpoint.name === name)
  if (!builtIn) throw new Error(`${name} is not built in`)
  return { ...builtIn, processor: { url, concurrency } }
}

/** What an application was sent. */
export interface Call {
  readonly id: string
  readonly input: unknown
  readonly raw: string
  readonly request: IncomingMessage
}

/** An application of a container, on this machine, that answers as `answer` says. */
export async function application(answer: (call: Call, response: ServerResponse) => void | Promise<void>) {
  const calls: Call[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await text(request)
    const call = { id: String(request.headers['job-id']), input: JSON.parse(raw), raw, request }
    calls.push(call)
    await answer(call, response)
  }
  const server = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { calls, port: (server.address() as AddressInfo).port, path: 'generate' }
}

/** Answers with JSON. */
export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

export const ready = async () => ({ ready: true })
