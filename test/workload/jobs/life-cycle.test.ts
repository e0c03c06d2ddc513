import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../../support/folder.ts'
import { killing, node, picture, saving, slow } from '../../support/prompts.ts'
import { type Server, spawnServer, startServer } from '../../support/server.ts'

const statusOf = async (path: Promise<Response>) => (await path).status

/** A server for the length of one test. */
async function serverWith(environment: Readonly<Record<string, string>>): Promise<Server> {
  const server = await startServer(environment)
  onTestFinished(async () => void (await server.stop('SIGKILL')))
  return server
}

describe('a server with room for one and a limit of two', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer({
      MAX_CONCURRENT_PROMPTS: '1',
      MAX_QUEUE_DEPTH: '2',
      PROMPT_TIMEOUT_S: '1',
      JOB_RETENTION_S: '0',
    })
  })
  afterAll(async () => void (await server.stop()))
  const isReady = () => fetch(`${server.url}/ready`)

  it('refuses a third prompt and says when to come again', async () => {
    const inside = [1, 2].map(() => server.post({ prompt: saving(slow(40, 10)) }))
    const readiness = async () => (await isReady()).json()
    await expect.poll(readiness).toMatchObject({ status: 'not ready', reasons: ['the queue is full'] })
    const third = await server.post({ prompt: saving(picture()) })
    expect([third.status, ((await third.json()) as { code: string }).code]).toEqual([429, 'queue-full'])
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await Promise.all(inside.map(statusOf))).toEqual([200, 200])
    await expect.poll(() => statusOf(isReady())).toBe(200)
  })

  it('never takes in more than two, however many come at once', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => statusOf(server.post({ prompt: saving(slow(30, 20)) }))),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status === 429)).toHaveLength(18)
  })

  it('has room again as soon as a client has its answer, under the same id too', async () => {
    await expect.poll(() => statusOf(isReady())).toBe(200)
    const client = async (id: string) => {
      for (let i = 0; i < 25; i++) expect(await statusOf(server.post({ prompt: saving(picture()), id }))).toBe(200)
    }
    await Promise.all([client('one'), client('two')]) // two clients and two places
  })

  it('tells the time in the queue', async () => {
    await expect.poll(() => statusOf(isReady())).toBe(200)
    const answers = await Promise.all(
      [1, 2].map(async () => (await server.post({ prompt: saving(slow(20, 10)) })).json()),
    )
    const waits = answers
      .map((answer) => (answer as { stats: { queue_time: number } }).stats.queue_time)
      .sort((a, b) => a - b)
    expect(waits[0]).toBeLessThan(100)
    expect(waits[1]).toBeGreaterThan(150)
  })

  it('ends a prompt that runs too long, and is free again', async () => {
    const late = await server.post({ prompt: saving(slow(1000, 10)), id: 'late' })
    expect([late.status, await late.json()]).toMatchObject([
      504,
      { code: 'timed-out', error: expect.stringContaining('1 s') },
    ])
    await expect.poll(() => statusOf(server.post({ prompt: saving(picture()), id: 'late' }))).toBe(200)
  })

  it('cancels a prompt whose client goes away, running or waiting', async () => {
    await expect.poll(() => statusOf(isReady())).toBe(200)
    const gone = new AbortController()
    const init = { signal: gone.signal, headers: { 'content-type': 'application/json' } }
    const cancelled = () => server.lines.filter((line) => line.includes('"code":"cancelled"')).length
    const before = cancelled()
    const inside = [1, 2].map(() => server.post({ prompt: saving(slow(90, 10)) }, init))
    await expect.poll(() => statusOf(isReady())).toBe(503) // both are in
    gone.abort()
    await Promise.allSettled(inside)
    await expect.poll(() => cancelled() - before).toBe(2)
    await expect.poll(server.spooled).toEqual([])
    expect(await statusOf(server.post({ prompt: saving(picture()) }))).toBe(200)
  })
})

describe('a server whose engine is killed', () => {
  it('answers all the same, and an honest 500 when it is killed again', async () => {
    const server = await serverWith({})
    const folder = await emptyFolder()
    const once = server.post({ prompt: killing(join(folder, 'once'), 1) })
    expect(await statusOf(once)).toBe(200)
    const beside = server.post({ prompt: saving(slow(50, 10)) })
    const twice = await server.post({ prompt: killing(join(folder, 'twice'), 2) })
    expect([twice.status, await twice.json()]).toMatchObject([
      500,
      { code: 'execution-failed', error: expect.stringContaining('SIGKILL') },
    ])
    expect(await statusOf(beside)).toBe(200)
    await expect.poll(() => statusOf(fetch(`${server.url}/ready`))).toBe(200)
  })
})

describe('a server that warms up', () => {
  const write = async (graph: unknown) => {
    const folder = await mkdtemp(join(tmpdir(), 'easel-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'warmup.json'), JSON.stringify(graph))
    return folder
  }

  it('listens meanwhile but takes no prompts, and is healthy and ready afterwards', async () => {
    const server = await spawnServer({ MODEL_DIR: await write(saving(slow(30, 10))) })
    onTestFinished(async () => void (await server.stop('SIGKILL')))
    const health = await fetch(`${server.url}/health`)
    expect([health.status, await health.json()]).toEqual([500, { version: '1.16.1', status: 'not healthy' }])
    const ready = await fetch(`${server.url}/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ reasons: expect.arrayContaining(['the server is still starting']) })
    const early = await server.post({ prompt: saving(picture()) })
    expect([early.status, await early.json()]).toMatchObject([503, { code: 'not-ready' }])
    expect(early.headers.get('retry-after')).toBe('5')
    expect(await server.line(/^ready in/)).toMatch(/^ready in \d+\.\d s \(of which warm-up \d+\.\d s\)$/)
    expect(await statusOf(fetch(`${server.url}/health`))).toBe(200)
    expect(await statusOf(server.post({ prompt: saving(picture()) }))).toBe(200)
  })

  it('and fails says why, stays up, and is never healthy', async () => {
    const folder = await write({
      prompt: saving(node('TestFails', { image: ['x', 0], message: 'cold' }), { x: picture() }),
    })
    const server = await spawnServer({ WARMUP_PROMPT_FILE: join(folder, 'warmup.json') })
    onTestFinished(async () => void (await server.stop('SIGKILL')))
    expect(await server.line(/^not ready/)).toContain('Node image (TestFails): cold')
    expect(await statusOf(fetch(`${server.url}/health`))).toBe(500)
    expect(await statusOf(server.post({ prompt: saving(picture()) }))).toBe(503)
  })
})
