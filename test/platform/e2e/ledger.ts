import { randomBytes } from 'node:crypto'
import type { ContainerGroup } from '../../../src/contracts/platform/container-group.ts'
import { createPlatformClient } from '../../../tools/chaos/platform-client.ts'
import type { PlatformProcess } from '../../../tools/chaos/platform-process.ts'

/** An application that answers each job with its number, after as many milliseconds as the job says. */
const application = `const { createServer } = require('node:http')
  createServer((request, response) => {
    let text = ''
    request.on('data', (part) => { text += part }).on('end', () => {
      const { number = 0, ms = 0 } = JSON.parse(text || '{}')
      setTimeout(() => response.end(JSON.stringify({ number })), ms)
    })
  }).listen(process.env.PORT, '127.0.0.1')`

export const QUEUE = 'numbers'

/** What a client of the platform was promised, and what it asked for without an answer: then either may be. */
export interface Ledger {
  /** Each resolves with whether it was accepted; false when the platform went away meanwhile. */
  queue(): Promise<boolean>
  group(name: string, replicas: number): Promise<boolean>
  scale(name: string, replicas: number): Promise<boolean>
  removeGroup(name: string): Promise<boolean>
  job(ms: number, webhook?: string): Promise<boolean>
  cancelLast(): Promise<boolean>
  upload(path: string, bytes: number): Promise<boolean>
  removeFile(path: string): Promise<boolean>
  /** A part at a time; `onPart` is told of each that was accepted. */
  multipart(path: string, parts: number, onPart?: (number: number) => void): Promise<boolean>
  /** Ends the multipart upload that was under way when the platform went away, with the parts that were accepted. */
  completeLast(): Promise<boolean>
  /** Jobs that were accepted, by id. */
  readonly jobs: ReadonlyMap<string, { readonly number: number; readonly webhook: string | undefined }>
  /** Everything in which the platform differs from what it promised; empty when it is as it should be. */
  faults(): Promise<readonly string[]>
}

interface Upload {
  readonly path: string
  readonly id: string
  readonly parts: { readonly partNumber: number; readonly etag: string; readonly bytes: Buffer }[]
}

const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled'])
const PART_BYTES = 5 * 2 ** 20

export function createLedger(platform: PlatformProcess): Ledger {
  const client = createPlatformClient(() => platform.book)
  const jobs = new Map<string, { readonly number: number; readonly webhook: string | undefined }>()
  const cancelled = new Set<string>()
  /** What each may be by now; undefined is nothing. */
  const groups = new Map<string, readonly (number | undefined)[]>()
  const files = new Map<string, readonly (Buffer | undefined)[]>()
  let upload: Upload | undefined
  let number = 0

  /** Asks; refusals are faults of the test, but for those of `twice`: what was asked for twice may have been done before. */
  const asked = async (work: () => Promise<{ readonly status: number; readonly body: unknown }>, twice?: number) => {
    const answer = await work().catch(() => undefined) // the platform went away
    if (answer?.status === twice) return undefined
    if (answer && answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  /** One of several states until the answer comes, and then the new one alone. */
  const change = async <T>(
    of: Map<string, readonly (T | undefined)[]>,
    name: string,
    next: T | undefined,
    work: () => Promise<unknown>,
  ): Promise<boolean> => {
    of.set(name, [...(of.get(name) ?? [undefined]), next])
    const isAccepted = (await work()) !== undefined
    if (isAccepted) of.set(name, [next])
    return isAccepted
  }
  const storage = async (method: string, path: string, body?: FormData | Buffer | string) => {
    const { storage: url, organization, api_key } = platform.book
    const response = await fetch(`${url}/organizations/${organization}/${path}`, {
      method,
      headers: { 'service-api-key': api_key, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: isJson ? JSON.parse(bytes.toString()) : bytes }
  }

  const fileFaults = async (): Promise<readonly string[]> => {
    const faults: string[] = []
    for (const [path, allowed] of files) {
      const { status, body } = await storage('GET', `files/${path}`)
      const found = status === 200 ? (body as Buffer) : undefined
      const isAllowed = allowed.some((each) => (each && found ? each.equals(found) : each === found))
      if (!isAllowed) faults.push(`file ${path}: ${status} with ${found?.length ?? 0} bytes`)
      files.set(path, [found])
    }
    return faults
  }
  const jobFaults = async (): Promise<readonly string[]> => {
    const found = new Map((await client.jobs(QUEUE)).map((job) => [job.id, job]))
    const faults: string[] = []
    for (const { id, status, events } of found.values()) {
      const finals = events.filter(({ action }) => ended.has(action)).length
      const started = events.filter(({ action }) => action === 'started').length
      if (finals !== 1 || !ended.has(status) || started > 4)
        faults.push(`job ${id} is ${status}: ${events.map(({ action }) => action).join()}`)
    }
    for (const [id, { number }] of jobs) {
      const job = found.get(id)
      const isRight = (job?.output as { number?: number } | undefined)?.number === number
      if (!job) faults.push(`job ${id} is lost`)
      else if (job.status !== 'succeeded' && !cancelled.has(id)) faults.push(`job ${id} is ${job.status}`)
      else if (job.status === 'succeeded' && !isRight) faults.push(`job ${id} has the output of another`)
    }
    return faults
  }
  const groupFaults = async (): Promise<readonly string[]> => {
    const { items } = await client.get<{ items: readonly ContainerGroup[] }>('/containers')
    const faults: string[] = []
    const ids: string[] = []
    for (const [name, allowed] of groups) {
      const found = items.find((group) => group.name === name)
      if (!allowed.includes(found?.replicas)) faults.push(`group ${name} has ${found?.replicas} replicas`)
      groups.set(name, [found?.replicas])
      if (!found) continue
      const instances = await client.instances(name)
      ids.push(...instances.map(({ id }) => id))
      const running = instances.filter(({ state, ready }) => state === 'running' && ready).length
      if (found.pending_change || running !== found.replicas || instances.length !== running)
        faults.push(`group ${name} has ${running} of ${found.replicas} instances, ${instances.length} in all`)
    }
    const containers = (await platform.descendants()).filter(({ leads }) => leads).map(({ instanceId }) => instanceId)
    if (containers.toSorted().join() !== ids.toSorted().join())
      faults.push(`containers ${containers.toSorted().join()} are not the instances ${ids.toSorted().join()}`)
    return faults
  }

  const completeLast = async (): Promise<boolean> => {
    if (!upload) return false
    const { path, id, parts } = upload
    const named = parts.map(({ partNumber, etag }) => ({ partNumber, etag }))
    const whole = Buffer.concat(parts.map(({ bytes }) => bytes))
    const at = `files/${path}?action=mpu-complete&uploadId=${id}`
    return change(files, path, whole, () => asked(() => storage('PUT', at, JSON.stringify({ parts: named })), 400))
  }

  return {
    jobs,
    queue: async () => (await asked(() => client.send('POST /queues', { name: QUEUE }))) !== undefined,
    group: (name, replicas) =>
      change(groups, name, replicas, () => asked(() => client.send('POST /containers', groupOf(name, replicas)))),
    scale: (name, replicas) =>
      change(groups, name, replicas, () => asked(() => client.send(`PATCH /containers/${name}`, { replicas }))),
    removeGroup: async (name) =>
      groups.get(name)?.some((replicas) => replicas !== undefined) === true &&
      change(groups, name, undefined, () => asked(() => client.send(`DELETE /containers/${name}`))),
    async job(ms, webhook) {
      const mine = ++number
      const body = { input: { number: mine, ms }, ...(webhook !== undefined && { webhook }) }
      const answer = await asked(() => client.send(`POST /queues/${QUEUE}/jobs`, body))
      if (answer) jobs.set((answer.body as { id: string }).id, { number: mine, webhook })
      return answer !== undefined
    },
    async cancelLast() {
      const id = [...jobs.keys()].at(-1) ?? ''
      cancelled.add(id)
      return (await asked(() => client.send(`DELETE /queues/${QUEUE}/jobs/${id}`))) !== undefined
    },
    upload(path, bytes) {
      const content = randomBytes(bytes)
      const form = new FormData()
      form.set('file', new Blob([content]))
      return change(files, path, content, () => asked(() => storage('PUT', `files/${path}`, form)))
    },
    removeFile: (path) => change(files, path, undefined, () => asked(() => storage('DELETE', `files/${path}`))),
    async multipart(path, parts, onPart) {
      const begun = await asked(() => storage('PUT', `files/${path}?action=mpu-create`))
      if (!begun) return false
      upload = { path, id: (begun.body as { uploadId: string }).uploadId, parts: [] }
      for (let partNumber = 1; partNumber <= parts; partNumber++) {
        const bytes = randomBytes(PART_BYTES)
        const at = `file_parts/${path}?partNumber=${partNumber}&uploadId=${upload.id}`
        const taken = await asked(() => storage('PUT', at, bytes))
        if (!taken) return false
        upload.parts.push({ partNumber, bytes, etag: (taken.body as { etag: string }).etag })
        onPart?.(partNumber)
      }
      return completeLast()
    },
    completeLast,
    faults: async () => [...(await fileFaults()), ...(await jobFaults()), ...(await groupFaults())],
  }
}

const groupOf = (name: string, replicas: number) => ({
  ...{ name, replicas, autostart_policy: true, restart_policy: 'always' },
  container: {
    image: 'application',
    command: [process.execPath, '-e', application],
    resources: { cpu: 1, memory: 1024 },
  },
  queue_connection: { queue_name: QUEUE, path: '/', port: 3000 },
  readiness_probe: {
    tcp: { port: 3000 },
    ...{ initial_delay_seconds: 0, period_seconds: 1, timeout_seconds: 5, success_threshold: 1, failure_threshold: 3 },
  },
})
