import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { resolve } from 'node:path'
import type { ContainerGroup } from '../../src/contracts/platform/container-group.ts'
import type { ContainerInstance } from '../../src/contracts/platform/container-instance.ts'
import type { PlatformBook } from './platform-process.ts'

/** A job of a queue as it is answered, as far as the verdict needs it. */
export interface ChaosJob {
  readonly id: string
  readonly status: string
  readonly output?: { readonly images?: readonly string[] }
  readonly events: readonly { readonly action: string; readonly time: string }[]
}

/** What a request came to. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Asks the management API for what belongs to its project. */
export interface PlatformClient {
  send(line: string, body?: unknown): Promise<Answer>
  /** The same, for what must succeed. */
  get<T>(path: string): Promise<T>
  group(name: string): Promise<ContainerGroup>
  instances(name: string): Promise<readonly ContainerInstance[]>
  /** All of them, newest first. */
  jobs(queue: string): Promise<readonly ChaosJob[]>
  /** What webhooks of the organization are signed with. */
  secret(): Promise<string>
}

const PAGE = 100

export function createPlatformClient(book: () => PlatformBook): PlatformClient {
  const at = async (place: string, method: string, body?: unknown): Promise<Answer> => {
    const { management, organization, api_key } = book()
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(`${management}/api/public/organizations/${organization}${place}`, {
      method,
      headers: { 'service-api-key': api_key, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const send = (line: string, body?: unknown): Promise<Answer> => {
    const [method = '', path = ''] = line.split(' ')
    return at(`/projects/${book().project}${path}`, method, body)
  }
  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await send(`GET ${path}`)
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body as T
  }
  return {
    send,
    get,
    group: (name) => get(`/containers/${name}`),
    instances: async (name) =>
      (await get<{ instances: readonly ContainerInstance[] }>(`/containers/${name}/instances`)).instances,
    async jobs(queue) {
      const all: ChaosJob[] = []
      for (let page = 1; ; page++) {
        const { items } = await get<{ items: readonly ChaosJob[] }>(`/queues/${queue}/jobs?page=${page}`)
        all.push(...items)
        if (items.length < PAGE) return all
      }
    },
    async secret() {
      const { body } = await at('/webhook-secret-key', 'GET')
      return (body as { readonly secret_key: string }).secret_key
    },
  }
}

/** A create body for reference workloads on the CPU, connected to `queue`. */
export const workloadGroup = (name: string, queue: string, replicas: number) => ({
  ...{ name, replicas, autostart_policy: true, restart_policy: 'always' },
  container: {
    image: 'reference-workload',
    resources: { cpu: 1, memory: 1024 },
    environment_variables: {
      ...{ HOST: '127.0.0.1', EXECUTION_PROVIDER: 'cpu', ENGINE_THREADS: '1', LOG_LEVEL: 'warn' },
      MODEL_DIR: resolve('models'),
    },
  },
  networking: { auth: true, port: 3000, protocol: 'http' },
  queue_connection: { queue_name: queue, path: '/prompt', port: 3000 },
  readiness_probe: {
    http: { path: '/ready', port: 3000, scheme: 'http', headers: [] },
    ...{ initial_delay_seconds: 0, period_seconds: 1, timeout_seconds: 5, success_threshold: 1, failure_threshold: 3 },
  },
})

/** The README's picture, small and in few steps, another one for each seed. */
export async function smallPictures(side: number, steps: number): Promise<(seed: number) => object> {
  const { prompt } = JSON.parse(await readFile('docs/examples/txt2img.json', 'utf8')) as {
    readonly prompt: Readonly<Record<string, { readonly class_type: string; readonly inputs: object }>>
  }
  const changed = (more: Readonly<Record<string, object>>) =>
    Object.fromEntries(
      Object.entries(prompt).map(([id, node]) => [
        id,
        { ...node, inputs: { ...node.inputs, ...more[node.class_type] } },
      ]),
    )
  return (seed) => ({
    prompt: changed({ EmptyLatentImage: { width: side, height: side }, KSampler: { seed, steps } }),
  })
}

/** An answer of the gateway. */
export interface GatewayAnswer {
  /** 0 where the connection broke before there was one. */
  readonly status: number
  readonly type: string
  readonly body: string
  /** Whether it came to its end. */
  readonly whole: boolean
}

/** Asks a workload through the gateway, under the name of its host, on a connection of its own. */
export function askGateway(
  { gateway, api_key }: PlatformBook,
  host: string,
  { method = 'GET', path, body }: { readonly method?: string; readonly path: string; readonly body?: unknown },
): Promise<GatewayAnswer> {
  const headers = { host, 'service-api-key': api_key, 'content-type': 'application/json' }
  return new Promise((done) => {
    const { port } = new URL(gateway)
    request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const parts: Buffer[] = []
      const { statusCode: status = 0, headers: told } = response
      const end = (): void => {
        const type = told['content-type'] ?? ''
        done({ status, type, body: Buffer.concat(parts).toString(), whole: response.complete })
      }
      response.on('data', (part: Buffer) => parts.push(part)).on('close', end)
      response.on('error', () => undefined) // it was cut: `close` follows
    })
      .on('error', () => done({ status: 0, type: '', body: '', whole: false }))
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}
