import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobRecordSchema } from '../../../src/contracts/job.ts'
import { emptyFolder } from '../../support/folder.ts'
import { killing, node, picture, saving, slow } from '../../support/prompts.ts'
import { inTurn, receiver } from '../../support/receiver.ts'
import { type Server, startServer } from '../../support/server.ts'

const secret = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw=='

let server: Server
beforeAll(async () => {
  server = await startServer({
    JOB_STORE: 'memory',
    OUTBOUND_ALLOW: '127.0.0.1',
    WEBHOOK_SECRET: secret,
    WEBHOOK_SCHEDULE_S: '0,0.05',
    PROMPT_WEBHOOK_RETRIES: '2',
    UPLOAD_ATTEMPTS: '1',
    PROMPT_TIMEOUT_S: '1.5',
    JOB_RETENTION_S: '3',
  })
})
afterAll(async () => void (await server.stop()))

const accept = async (body: object) => {
  const response = await server.post(body)
  expect([response.status, await response.text()]).toEqual([202, expect.anything()])
}
const jobOf = (id: string) => fetch(`${server.url}/jobs/${id}?result=false`)
const recordOf = async (id: string) => jobRecordSchema.parse(await (await jobOf(id)).json())
const isTold = async (id: string) => {
  const { finish_time, delivery = [] } = await recordOf(id)
  return finish_time !== undefined && delivery.every(({ status }) => status !== 'pending')
}
const told = (id: string) => expect.poll(() => isTold(id)).toBe(true)

describe('the receiver of an asynchronous prompt hears once', () => {
  it('that it ran too long', async () => {
    const { url, calls } = await receiver({ secret })
    await accept({ id: 'long', prompt: saving(slow(1000, 20)), webhook_v2: url })
    await told('long')
    expect(calls.map(({ body }) => [body!.type, body!.code])).toEqual([['prompt.failed', 'timed-out']])
  })

  it('of its result, when the engine that ran it died, and of its failure, when it dies each time', async () => {
    const { url, calls } = await receiver({ secret })
    const marker = join(await emptyFolder(), 'runs')
    await accept({ id: 'died', prompt: killing(marker, 1), webhook_v2: url })
    await told('died')
    await accept({ id: 'deadly', prompt: killing(`${marker}-again`, 100), webhook_v2: url })
    await told('deadly')
    expect(calls.map(({ promptId, event }) => [promptId, event])).toEqual([
      ['died', 'prompt.complete'],
      ['deadly', 'prompt.failed'],
    ])
    expect(calls[1]!.body).toMatchObject({ code: 'execution-failed', error: expect.stringContaining('engine') })
    expect((await readFile(`${marker}-again`, 'utf8')).length).toBe(2)
  })

  it('where it failed, and why', async () => {
    const { url, calls } = await receiver({ secret })
    const prompt = saving(node('TestFails', { image: ['source', 0], message: 'the cause' }), { source: picture() })
    await accept({ id: 'why', prompt, webhook_v2: url, webhook: `${url}/plain` })
    await told('why')
    const [signed, plain] = calls.toSorted((one, other) => one.path.length - other.path.length).map(({ body }) => body!)
    expect(signed).toMatchObject({
      type: 'prompt.failed',
      code: 'execution-failed',
      node_id: 'image',
      node_type: 'TestFails',
    })
    for (const { error } of [signed!, plain!])
      for (const part of ['image', 'TestFails', 'the cause']) expect(error).toContain(part)
    expect(plain).toMatchObject({ event: 'prompt.failed', id: 'why', prompt: expect.anything() })
  })
})

describe('an asynchronous prompt that is cancelled', () => {
  it('at any moment ends in one event, and its files are gone', async () => {
    const { url, calls } = await receiver({ secret })
    const ids = Array.from({ length: 16 }, (_, i) => `stop-${i}`)
    await Promise.all(
      ids.map(async (id, i) => {
        await accept({ id, prompt: saving(slow(10, 10)), webhook_v2: url })
        await new Promise((resolve) => setTimeout(resolve, i * 20))
        const response = await fetch(`${server.url}/jobs/${id}`, { method: 'DELETE' })
        expect([200, 202]).toContain(response.status)
      }),
    )
    for (const id of ids) await told(id)
    expect(calls.map(({ promptId }) => promptId).sort()).toEqual(ids.toSorted())
    for (const id of ids) {
      const { status } = await recordOf(id)
      const [call] = calls.filter(({ promptId }) => promptId === id)
      expect([id, status, call!.event]).toEqual([
        id,
        expect.anything(),
        status === 'succeeded' ? 'prompt.complete' : 'prompt.failed',
      ])
    }
    await expect.poll(() => server.spooled()).toEqual([])
  })

  it('while its receiver is called is told its result all the same', async () => {
    const { url, calls } = await receiver({ secret, behave: inTurn(500, 200) })
    await accept({ id: 'late', prompt: saving(picture()), webhook_v2: url })
    await expect.poll(() => calls.length).toBeGreaterThan(0)
    await fetch(`${server.url}/jobs/late`, { method: 'DELETE' })
    await told('late')
    expect(calls.map(({ event }) => event)).toEqual(['prompt.complete', 'prompt.complete'])
    expect(await recordOf('late')).toMatchObject({ status: 'succeeded' })
  })
})

it('a receiver that is not there is given up after its attempts, and the files go with the record', async () => {
  await accept({ id: 'nobody', prompt: saving(picture()), webhook_v2: 'http://127.0.0.1:9/' })
  await told('nobody')
  expect((await recordOf('nobody')).delivery).toMatchObject([
    { status: 'failed', attempts: 2, last_error: expect.stringContaining('refused') },
  ])
  expect((await fetch(`${server.url}/jobs/nobody/outputs/0`)).status).toBe(200)
  await expect.poll(async () => (await jobOf('nobody')).status).toBe(404)
  expect((await fetch(`${server.url}/jobs/nobody/redeliver`, { method: 'POST' })).status).toBe(404)
  await expect.poll(() => server.spooled()).toEqual([])
})

it('a client that hangs up after it has sent an asynchronous prompt stops nothing', async () => {
  const { url, calls } = await receiver({ secret })
  const gone = new AbortController()
  const sent = server.post(
    { id: 'gone', prompt: saving(slow(10, 10)), webhook_v2: url },
    {
      headers: { 'content-type': 'application/json' },
      signal: gone.signal,
    },
  )
  await expect.poll(async () => (await jobOf('gone')).status).toBe(200)
  gone.abort()
  await sent.catch(() => undefined)
  await expect.poll(() => calls.map(({ event }) => event)).toEqual(['prompt.complete'])
})
