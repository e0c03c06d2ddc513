import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../support/folder.ts'
import { picture, saving } from '../support/prompts.ts'
import { queueFolderIn } from '../support/queues.ts'
import { receiver } from '../support/receiver.ts'
import { redisMissing, startRedis } from '../support/redis.ts'
import { type Server, spawnServer, startServer } from '../support/server.ts'

async function serverWith(environment: Readonly<Record<string, string>>, start = startServer): Promise<Server> {
  const server = await start({ OUTBOUND_ALLOW: '127.0.0.1', ...environment })
  onTestFinished(async () => void (await server.stop('SIGKILL')))
  return server
}

const send = async (server: Server, body: object) => {
  const began = performance.now()
  const response = await server.post(body)
  const answer = (await response.json()) as Record<string, unknown>
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    answer,
    took: performance.now() - began,
  }
}
const ready = async ({ url }: Server) => {
  const response = await fetch(`${url}/ready`)
  const { reasons = [] } = (await response.json()) as { reasons?: readonly string[] }
  return { status: response.status, reasons }
}
const asked = (url: string, id: string) => ({ id, prompt: saving(picture()), webhook_v2: url })

describe('a server that cannot keep prompts', () => {
  it('because its folder is no folder says so to who does not wait, and serves who does', async () => {
    const file = join(await emptyFolder(), 'file')
    await writeFile(file, '')
    const server = await serverWith({ DATA_DIR: join(file, 'data') })
    const { url } = await receiver()
    expect(await send(server, asked(url, 'lost'))).toMatchObject({
      status: 503,
      answer: { code: 'not-ready' },
      retryAfter: expect.any(String),
    })
    expect(await ready(server)).toMatchObject({ status: 503, reasons: ['the queue cannot be reached'] })
    const secret = { ...asked(url, 'lost'), credentials: [{ url_pattern: '**', auth: { type: 'bearer', token: 'x' } }] }
    expect(await send(server, secret)).toMatchObject({ status: 503, answer: { code: 'not-ready' } })
    expect(await send(server, { id: 'waited-for', prompt: saving(picture()) })).toMatchObject({ status: 200 })
    expect((await fetch(`${server.url}/jobs/lost`)).status).toBe(404)
    expect((await fetch(`${server.url}/jobs`)).status).toBe(200)
    expect(await server.stop()).toEqual([0, null])
  })

  it('because another server has the folder says so, and takes prompts once that one has gone', async () => {
    const data = await emptyFolder()
    await queueFolderIn(join(data, 'queue'))
    const first = await serverWith({ DATA_DIR: data })
    const { url, calls } = await receiver()
    expect((await send(first, asked(url, 'first'))).status).toBe(202)
    const second = await serverWith({ DATA_DIR: data })
    const refused = await send(second, asked(url, 'second'))
    expect(refused).toMatchObject({
      status: 503,
      answer: { code: 'not-ready', error: expect.stringContaining('in use') },
    })
    expect((await ready(second)).status).toBe(503)
    expect((await ready(first)).status).toBe(200)
    await first.stop()
    await expect.poll(async () => (await send(second, asked(url, 'second'))).status).toBe(202)
    await expect.poll(() => calls.map(({ promptId }) => promptId)).toEqual(['first', 'second'])
    await expect.poll(async () => (await ready(second)).status).toBe(200)
  })
})

describe.skipIf(redisMissing() !== undefined)('a server whose Redis is away', () => {
  it('starts, says so within moments, and does its work when Redis comes', async () => {
    const redis = await startRedis({ folder: await emptyFolder(), appendonly: false })
    onTestFinished(() => redis.stop('SIGKILL'))
    await redis.stop()
    const server = await serverWith({ REDIS_URL: redis.url, DATA_DIR: await emptyFolder() }, spawnServer)
    await server.line(/^ready in /)
    const { url, calls } = await receiver()
    await expect.poll(() => ready(server)).toEqual({ status: 503, reasons: ['the queue cannot be reached'] })
    const refused = await send(server, asked(url, 'early'))
    expect(refused).toMatchObject({ status: 503, answer: { code: 'not-ready' }, retryAfter: expect.any(String) })
    expect(refused.took).toBeLessThan(3000)
    expect((await send(server, { prompt: saving(picture()) })).status).toBe(200)
    await redis.restart()
    await expect.poll(async () => (await ready(server)).status).toBe(200)
    expect((await send(server, asked(url, 'early'))).status).toBe(202)
    await expect.poll(() => calls.map(({ event }) => event)).toEqual(['prompt.complete'])
  })
})
