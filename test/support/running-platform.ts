import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import type { QueueJob } from '../../src/contracts/platform/queue-job.ts'
import { launcherIn } from './container-groups.ts'
import { emptyFolder } from './folder.ts'
import { platformFolderIn } from './platform-database.ts'
import { type Program, startPlatform } from './platform-program.ts'

/** Whom every platform of these tests lets in, so that a key opens several. */
const seed = {
  organizations: [{ name: 'acme', projects: ['demo'], members: ['ann'] }],
  users: [{ name: 'ann', api_key: 'the key of ann, long' }],
}

/** Answers each job with what it was sent, after as many milliseconds as `wait` says. */
const application = `
const { createServer } = require('node:http')
createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const input = JSON.parse(Buffer.concat(chunks).toString() || '{}')
  setTimeout(() => response.end(JSON.stringify({ seen: input, pid: process.pid })), input.wait ?? 0)
}).listen(process.env.PORT)`

/** A built platform, and what its clients do with it. */
export interface RunningPlatform {
  readonly program: Program
  readonly dataDir: string
  /** Asks `{method} {path}` in the project, which resolves with the answer's body; throws what is no success. */
  ask<T = unknown>(line: string, body?: unknown): Promise<T>
  /** A queue and a group of this name, with an application that answers jobs. */
  serve(name: string, replicas: number): Promise<void>
  /** Resolves with the id of a job that was accepted. */
  submit(queue: string, input: unknown, more?: object): Promise<string>
  job(queue: string, id: string): Promise<QueueJob>
  /** The status of a request to a group, through this platform's gateway. */
  statusThroughGateway(group: string): Promise<number | undefined>
}

interface Book {
  readonly management: string
  readonly gateway: string
}

/** Starts one, on records of its own if no others are named. */
export async function runPlatform(environment: Readonly<Record<string, string>> = {}): Promise<RunningPlatform> {
  const dataDir = environment.PLATFORM_DATA_DIR ?? (await emptyFolder())
  if (environment.DATABASE_URL === undefined && !existsSync(join(dataDir, 'database'))) await platformFolderIn(dataDir)
  const file = join(dataDir, 'seed.json')
  await writeFile(file, JSON.stringify(seed))
  const program = startPlatform({
    ...{ PLATFORM_DATA_DIR: dataDir, PLATFORM_SEED: file, REQUESTS_PER_MINUTE: '0' },
    ...{ WORKER_POLL_S: '0.3', STOP_GRACE_S: '2', LOG_LEVEL: 'info', ...environment },
  })
  onTestFinished(async () => {
    await program.stop()
    await launcherIn(join(dataDir, 'nodes')).sweep() // what is left of one that was killed
  })
  await program.line(/^try: /)
  const book = JSON.parse(await readFile(join(dataDir, 'platform.json'), 'utf8')) as Book
  const headers = { 'service-api-key': 'the key of ann, long', 'content-type': 'application/json' }
  async function ask<T>(line: string, body?: unknown): Promise<T> {
    const [method = '', path = ''] = line.split(' ')
    const url = `${book.management}/api/public/organizations/acme/projects/demo${path}`
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${line}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  return {
    program,
    dataDir,
    ask,
    async serve(name, replicas) {
      await ask('POST /queues', { name })
      await ask('POST /containers', {
        ...{ name, replicas, autostart_policy: true, restart_policy: 'always' },
        container: {
          ...{ image: 'registry.example.com/application:1', command: [process.execPath, '-e', application] },
          resources: { cpu: 1, memory: 1024 },
        },
        networking: { auth: false, protocol: 'http', port: 3000 },
        readiness_probe: {
          http: { path: '/', port: 3000, scheme: 'http', headers: [] },
          ...{ initial_delay_seconds: 0, period_seconds: 1, timeout_seconds: 5 },
          ...{ success_threshold: 1, failure_threshold: 3 },
        },
        queue_connection: { queue_name: name, path: '/', port: 3000 },
      })
    },
    submit: async (queue, input, more = {}) =>
      (await ask<QueueJob>(`POST /queues/${queue}/jobs`, { input, ...more })).id,
    job: (queue, id) => ask(`GET /queues/${queue}/jobs/${id}`),
    async statusThroughGateway(group) {
      const { networking } = await ask<{ networking: { dns: string } }>(`GET /containers/${group}`)
      const asked = get(book.gateway, { headers: { host: networking.dns } })
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    },
  }
}

/** The processes that one has started and that run a program of this name. */
export function childrenOf(pid: number, name: string): readonly number[] {
  const listed = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return listed.split('\n').flatMap((line) => {
    const [child, parent, ...args] = line.trim().split(/\s+/)
    return Number(parent) === pid && args.join(' ').includes(name) ? [Number(child)] : []
  })
}

/** Whether there is a process of this number. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits for what machines that do much else may take long for. */
export const patiently = <T>(look: () => T | Promise<T>, timeout = 90_000): Promise<T> =>
  vi.waitFor(look, { timeout, interval: 250 })
